package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/tables"
)

// pageTemplate is the template of a page about a table, whose text shows pageParts.
func pageTemplate(text string) *template.Template {
	return template.Must(figures.Parts().New("page").Funcs(template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f", 100*share) },
		"p":       func(p float64) string { return strings.TrimPrefix(tables.PIs(p), "= ") },
		"base":    filepath.Base, "short": tables.ShortName,
		"few": func(list []string) string { return tables.Few(list, 20) }}).Parse(text))
}

// pageParts is what a page shows of an answer.
type pageParts struct {
	Answer         any
	Style          template.CSS
	Sections, Maps []figures.PanelPart
	Script         template.JS
}

// writePage writes index.html, a page with live charts of an answer, echarts.min.js and other files by name to the
// folder, which it makes if needed.
func writePage(dir string, page *template.Template, answer any, fig figures.Figure, maps []figures.HeatMap,
	files map[string][]byte) error {
	out := pageParts{Answer: answer, Style: figures.CSS(fig)}
	script, err := figures.Script(fig, maps)
	out.Script = script
	for _, p := range fig.Panels {
		part, failed := figures.NewPanelPart(fig, p)
		part.Live = true
		out.Sections, err = append(out.Sections, part), errors.Join(err, failed)
	}
	for _, m := range maps {
		part, failed := m.Part(fig)
		part.Live = true
		out.Maps, err = append(out.Maps, part), errors.Join(err, failed)
	}
	var text bytes.Buffer
	if err == nil {
		err = page.Execute(&text, out)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	write := func(name string, content []byte) {
		if err == nil {
			err = artifact.Replace(filepath.Join(dir, name), content, 0o644)
		}
	}
	write(figures.PageFile, text.Bytes()) // first: it shows whose the others are
	write(figures.ScriptFile, figures.ECharts)
	for name, content := range files {
		write(name, content)
	}
	if err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}
