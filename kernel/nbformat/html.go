package nbformat

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	chroma "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

// HTMLOptions configures Notebook.HTML.
type HTMLOptions struct {
	Title   string // title of the page if the notebook has no heading
	Dir     string // the notebook's folder, for pictures in its Markdown
	ECharts []byte // content of echarts.min.js; nil: charts stay static pictures
}

var (
	//go:embed page.html
	pageText string
	// temml makes MathML of formulas, in the page: version 0.13.5 as published on npm.
	//go:embed temml/temml.min.js
	temml        string
	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// page and block are the data of the template.
type page struct {
	Title          string
	ECharts, Temml template.JS
	Blocks         []block
}

type block struct {
	Type    string        // as in Cell
	Text    template.HTML // markdown
	Source  template.HTML // code and raw
	Hidden  bool          // folded, as the answer of an exercise is
	Count   string        // execution count; empty if the cell has not run
	Outputs []template.HTML
}

// HTML exports a notebook as one page that opens without a network. The page loads nothing, and its security policy
// makes the browser refuse to load anything. Charts are interactive if the page contains ECharts; otherwise the
// page shows their static pictures.
func (nb *Notebook) HTML(o HTMLOptions) ([]byte, error) {
	p, charts := page{Title: nb.title(o.Title)}, false
	language := nb.Language()
	for i, c := range nb.Cells {
		b := block{Type: c.Type, Source: template.HTML(html.EscapeString(c.Source)), Hidden: c.hidden()}
		if c.Type == Code {
			b.Source = coloured(language, c.Source)
		}
		if c.Type == Markdown {
			text, err := markdownToHTML(c.Source, c.Attachments, o.Dir)
			if err != nil {
				return nil, fmt.Errorf("cannot export cell %d: %w", i+1, err)
			}
			b.Text = template.HTML(text)
			if strings.Contains(text, formulaClass) {
				p.Temml = template.JS(temml)
			}
		}
		if c.ExecutionCount > 0 {
			b.Count = fmt.Sprint(c.ExecutionCount)
		}
		for _, out := range c.Outputs {
			text, err := out.html(o.Dir)
			if err != nil {
				return nil, fmt.Errorf("cannot export an output of cell %d: %w", i+1, err)
			}
			charts = charts || strings.Contains(text, "echarts")
			b.Outputs = append(b.Outputs, template.HTML(text))
		}
		p.Blocks = append(p.Blocks, b)
	}
	if charts {
		p.ECharts = template.JS(bytes.ReplaceAll(o.ECharts, []byte("</script"), []byte(`<\/script`)))
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("cannot export the notebook: %w", err)
	}
	return b.Bytes(), nil
}

// hidden says whether JupyterLab shows the cell's source folded.
func (c *Cell) hidden() bool {
	state, _ := c.Metadata["jupyter"].(map[string]any)
	return state["source_hidden"] == true
}

// colours writes code as HTML with colours; the page has the element around it.
var colours = chroma.New(chroma.PreventSurroundingPre(true))

// coloured is code of a language as HTML, without colours if the language is not known.
func coloured(language, code string) template.HTML {
	plain := template.HTML(html.EscapeString(code))
	lexer := lexers.Get(language)
	if lexer == nil {
		return plain
	}
	tokens, err := lexer.Tokenise(nil, code)
	var b strings.Builder
	if err == nil {
		err = colours.Format(&b, styles.Get("xcode"), tokens)
	}
	if err != nil {
		return plain
	}
	return template.HTML(b.String())
}

// heading matches a heading of Markdown.
var heading = regexp.MustCompile(`(?m)^#{1,2} +(.+?)[ #]*\r?$`)

// title is the notebook's first heading, or given if there is none.
func (nb *Notebook) title(given string) string {
	for _, c := range nb.Cells {
		if m := heading.FindStringSubmatch(c.Source); c.Type == Markdown && m != nil {
			return m[1]
		}
	}
	return given
}

// forms lists the MIME types that a page can show, the preferred ones first.
var forms = []struct {
	mime string
	html func(mime, content, dir string) (string, error)
}{
	{"text/html", func(_, content, _ string) (string, error) { return content, nil }},
	{"text/markdown", func(_, content, dir string) (string, error) { return markdownToHTML(content, nil, dir) }},
	{"image/svg+xml", image},
	{"image/png", image},
	{"image/jpeg", image},
	{"image/gif", image},
	{"image/webp", image},
	{"text/latex", func(_, content, _ string) (string, error) {
		formula := html.EscapeString(strings.Trim(content, "$ \n"))
		return `<code class="` + formulaClass + ` display">` + formula + `</code>`, nil
	}},
	{"text/plain", func(_, content, _ string) (string, error) { return "<pre>" + ansiToHTML(content) + "</pre>", nil }},
}

// image shows a picture in an element with Jupyter's class for pictures: the script of a chart finds and hides the
// static picture before it by this class.
func image(mime, content, _ string) (string, error) {
	return `<div class="jp-RenderedImage"><img alt="" src="` + html.EscapeString(dataURI(mime, content)) + `"></div>`, nil
}

// html shows an output in its preferred form; empty if the page can show none of its forms.
func (o Output) html(dir string) (string, error) {
	switch o.Type {
	case Stream:
		return fmt.Sprintf("<pre class=\"%s\">%s</pre>", html.EscapeString(o.Name), ansiToHTML(o.Text)), nil
	case Error:
		text := strings.Join(o.Traceback, "\n")
		if !strings.Contains(PlainText(text), o.Evalue) || text == "" {
			text = strings.TrimSpace(fmt.Sprintf("%s: %s\n%s", o.Ename, o.Evalue, text))
		}
		return "<pre class=\"error\">" + ansiToHTML(text) + "</pre>", nil
	}
	for _, form := range forms {
		if content, ok := o.Data.Text(form.mime); ok {
			return form.html(form.mime, content, dir)
		}
	}
	return "", nil
}
