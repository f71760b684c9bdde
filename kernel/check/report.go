package check

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"tvps/kernel/nbformat"
)

// tell writes the outcome of a notebook to Report.
func (o Options) tell(outcome Outcome) error {
	text := outcome.details()
	switch {
	case outcome.Skipped != "":
		text = fmt.Sprintf("%s: skipped: %s\n", outcome.File, outcome.Skipped)
	case outcome.Err == nil:
		text = fmt.Sprintf("%s: %d numbers, %d differences, in %v\n%s", outcome.File, outcome.Numbers,
			len(outcome.Differences), outcome.Took.Round(100*time.Millisecond), text)
	}
	_, err := io.WriteString(o.Report, text)
	return err
}

// details lists the differences of an outcome.
func (o Outcome) details() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	list := func(title string, differences []Difference) {
		if len(differences) == 0 {
			return
		}
		fmt.Fprint(table, title, "what\tcell\tname\tgolden\tvalue\ttolerance\n")
		for _, d := range differences {
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", d.What, d.Cell, d.Name, digits(d.Golden), digits(d.Value),
				digits(d.Tolerance))
		}
	}
	list("", o.Differences)
	list("the outputs in the file have other numbers than the golden file:\n", o.Stored)
	if len(o.Stale) > 0 {
		fmt.Fprint(table, "the outputs in the file are out of date:\ncell\toutput\tin the file\tin a run\n")
	}
	for _, s := range o.Stale {
		fmt.Fprintf(table, "%d (%s)\t%s\t%q\t%q\n", s.Cell, s.ID, s.What, s.Was, s.Now)
	}
	table.Flush()
	return text.String()
}

func digits(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}

// summary says in one line what is wrong; empty for a good outcome.
func (o Outcome) summary() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.Skipped != "":
		return "skipped: " + o.Skipped
	}
	add(len(o.Differences), "numbers differ from the golden file")
	add(len(o.Stored), "numbers in the file's outputs differ from the golden file")
	add(len(o.Stale), "cells have outputs that are out of date")
	return strings.Join(parts, ", ")
}

// write writes the files of JUnit and Page.
func (o Options) write(outcomes []Outcome) error {
	var errs []error
	for _, one := range []struct {
		file string
		make func([]Outcome) ([]byte, error)
	}{{o.JUnit, junit}, {o.Page, page}} {
		if one.file == "" {
			continue
		}
		text, err := one.make(outcomes)
		if err == nil {
			err = nbformat.WriteFile(one.file, text)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

type (
	xmlSuite struct {
		XMLName  xml.Name  `xml:"testsuite"`
		Name     string    `xml:"name,attr"`
		Tests    int       `xml:"tests,attr"`
		Failures int       `xml:"failures,attr"`
		Errors   int       `xml:"errors,attr"`
		Skipped  int       `xml:"skipped,attr"`
		Time     string    `xml:"time,attr"`
		Cases    []xmlCase `xml:"testcase"`
	}
	xmlCase struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		Time    string  `xml:"time,attr"`
		Failure *xmlWhy `xml:"failure"`
		Error   *xmlWhy `xml:"error"`
		Skipped *xmlWhy `xml:"skipped"`
	}
	xmlWhy struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit describes the outcomes in the XML of JUnit: a test case for each notebook. Numbers that differ and outputs that
// are out of date are failures; a notebook that cannot be run is an error.
func junit(outcomes []Outcome) ([]byte, error) {
	s := xmlSuite{Name: "notebooks", Tests: len(outcomes)}
	var total time.Duration
	for _, o := range outcomes {
		c := xmlCase{Name: filepath.Base(o.File), Class: "kernel.check", Time: seconds(o.Took)}
		total += o.Took
		why := &xmlWhy{o.summary(), o.details()}
		switch {
		case o.Skipped != "":
			s.Skipped++
			c.Skipped = &xmlWhy{Message: o.Skipped}
		case o.Err != nil:
			s.Errors++
			c.Error = why
		case !o.good():
			s.Failures++
			c.Failure = why
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = seconds(total)
	text, err := xml.MarshalIndent(s, "", " ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

//go:embed changes.html
var changes string

var changesPage = template.Must(template.New("changes").Parse(changes))

// changed is a chart whose picture in the file is not that of the run.
type changed struct {
	Title         string
	Before, After template.URL // addresses that contain the picture
}

// charts lists the changed charts of a notebook.
func (o Outcome) charts() []changed {
	if o.stored == nil || o.ran == nil {
		return nil
	}
	var all []changed
	after := codeCells(o.ran)
	for i, c := range codeCells(o.stored) {
		if i >= len(after) {
			break
		}
		was, now := pictures(c.Outputs), pictures(after[i].Outputs)
		for k := range max(len(was), len(now)) {
			var one changed
			if k < len(was) {
				one = changed{Title: was[k].title, Before: was[k].address}
			}
			if k < len(now) {
				one.Title, one.After = now[k].title, now[k].address
			}
			if one.Before != one.After {
				all = append(all, one)
			}
		}
	}
	return all
}

type picture struct {
	title   string
	address template.URL
}

func pictures(outputs []nbformat.Output) (all []picture) {
	for _, o := range outputs {
		png, ok := o.Data.Text("image/png")
		if !ok {
			continue
		}
		content := strings.Join(strings.Fields(png), "")
		if _, err := base64.StdEncoding.DecodeString(content); err != nil {
			continue // not a picture: nothing that a page could show
		}
		title, _ := o.Data.Text("text/plain")
		all = append(all, picture{strings.TrimPrefix(title, "Picture: "), template.URL("data:image/png;base64," + content)})
	}
	return all
}

// page describes the outcomes as a page without scripts: what differs, and the changed charts, that of the file next to
// that of the run.
func page(outcomes []Outcome) ([]byte, error) {
	type section struct {
		Name, Summary, Details string
		Good                   bool
		Charts                 []changed
	}
	var sections []section
	for _, o := range outcomes {
		sections = append(sections, section{filepath.Base(o.File), o.summary(), o.details(), o.good(), o.charts()})
	}
	var text bytes.Buffer
	err := changesPage.Execute(&text, sections)
	return text.Bytes(), err
}
