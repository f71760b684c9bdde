package nbformat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// export makes a page of a notebook with a Markdown cell and a code cell that has these outputs.
func export(t *testing.T, o HTMLOptions, markdown string, outputs ...Output) string {
	t.Helper()
	nb := &Notebook{Cells: []*Cell{
		{Type: Markdown, Source: markdown, Attachments: map[string]MIMEBundle{"a.png": {"image/png": "QUJD\n"}}},
		{Type: Code, Source: "if a < b {\n\t<p>\n}", ExecutionCount: 12, Outputs: outputs},
	}}
	page, err := nb.HTML(o)
	demand.NoError(t, err)
	return string(page)
}

func display(data MIMEBundle) Output { return Output{Type: DisplayData, Data: data} }

func TestHTML(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	demand.NoError(t, os.Mkdir(dir, 0o755))
	for _, file := range []string{"b.png", "../c.png"} { // a notebook shows nothing from outside its folder
		demand.Write(t, filepath.Join(dir, file), "DEF")
	}
	page := export(t, HTMLOptions{Title: "given", Dir: dir},
		"# The *title* #\n\n**bold** | ~~x~~ $a_1 * b_1 * c$ costs $5 and ($6), $$\\mu\n_t$$ `$no$`\n\n"+
			"![](attachment:a.png) ![](b.png) ![](../c.png) ![](https://example.org/d.png)\n\n|h|\n|-|\n|cell|\n",
		Output{Type: Stream, Name: "stderr", Text: "a \x1b[1;31mred\x1b[0m <b>\x1b[K"},
		Output{Type: Error, Ename: "ERROR", Evalue: "exit status 4", Traceback: []string{"\x1b[31mexit status 4\x1b[0m"}},
		Output{Type: Error, Ename: "NameError", Evalue: "no x"},
		display(MIMEBundle{"text/plain": "a picture", "image/png": "R0hJ\n"}),
		display(MIMEBundle{"text/plain": "fallback", "text/html": "<em id='e'>html</em>", "image/png": "R0hJ"}),
		display(MIMEBundle{"image/svg+xml": "<svg/>"}),
		display(MIMEBundle{"text/markdown": "_m_"}),
		display(MIMEBundle{"text/plain": "1 < 2"}),
		display(MIMEBundle{"application/json": map[string]any{}}),
	)
	for _, want := range []string{
		"<title>The *title*</title>", "<strong>bold</strong>", "<del>x</del>", "<td>cell</td>",
		`<code class="formula">a_1 * b_1 * c</code>`, "costs $5 and ($6),",
		`<code class="formula display">\mu` + "\n_t</code>", "<code>$no$</code>",
		`<img src="data:image/png;base64,QUJD"`, `<img src="data:image/png;base64,REVG"`, `<img src="../c.png"`,
		"if a &lt; b {\n\t&lt;p&gt;\n}", `data-count="12"`, "temml=function",
		`<pre class="stderr">a <span class="term-fg31 term-fg1">red</span> &lt;b&gt;</pre>`,
		`<pre class="error"><span class="term-fg31">exit status 4</span></pre>`,
		`<pre class="error">NameError: no x</pre>`,
		`<img alt="" src="data:image/png;base64,R0hJ">`, "<em id='e'>html</em>",
		`src="data:image/svg&#43;xml;base64,PHN2Zy8&#43;"`,
		"<em>m</em>", "<pre>1 &lt; 2</pre>", "default-src 'none'",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#43;", "+")) {
			t.Errorf("no %s in the page:\n%s", want, page)
		}
	}
	for _, wrong := range []string{"fallback", "a picture", "\x1b", "given"} {
		if strings.Contains(page, wrong) {
			t.Errorf("%q is in the page", wrong)
		}
	}
}

func TestHTMLCharts(t *testing.T) {
	chart := display(MIMEBundle{"text/html": `<div data-chart="k"></div><script>window.echarts.init()</script>`})
	picture := display(MIMEBundle{"image/png": "QUJD"})
	script := []byte(`window.echarts="</script><b>"`)
	page := export(t, HTMLOptions{ECharts: script}, "", picture, chart)
	demand.Words(t, page, `<script>window.echarts="<\/script><b>"</script>`)
	for name, page := range map[string]string{
		"no ECharts": export(t, HTMLOptions{}, "", picture, chart),
		"no chart":   export(t, HTMLOptions{ECharts: script}, "", picture),
	} {
		if strings.Contains(page, `<script>window.echarts=`) || !strings.Contains(page, "base64,QUJD") {
			t.Errorf("%s: the page is\n%s", name, page)
		}
	}
}

func TestColours(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[32ma\x1b[39m<b": `<span class="term-fg32">a</span>&lt;b`,
		"\x1b[91;44ma\x1b[49mb": `<span class="term-fgi91 term-bg44">a</span>` +
			`<span class="term-fgi91">b</span>`,
		"\x1b[101mx":        `<span class="term-bgi101">x</span>`,
		"\x1b[1;4mx\x1b[m.": `<span class="term-fg1 term-fg4">x</span>.`,
		"\x1b]0;title\x07x\x1b[2J\x1b[999999999C\x1b[9By": "xy", "a\x1b]1338;url=http://b/c.png\x07": "a",
	} {
		if got := ansiToHTML(text); got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
	}
}

// Code has the colours of its language, and a cell that JupyterLab folds is folded. Without formulas the page has no
// script for them.
func TestHTMLOfGo(t *testing.T) {
	nb := &Notebook{Metadata: map[string]any{"kernelspec": map[string]any{"language": "go"}}, Cells: []*Cell{
		{Type: Code, Source: "func f() { return a < b }"},
		{Type: Code, Source: "hidden()", Metadata: map[string]any{"jupyter": map[string]any{"source_hidden": true}}},
	}}
	page, err := nb.HTML(HTMLOptions{})
	demand.NoError(t, err)
	text := string(page)
	demand.Words(t, text, `">func</span>`, "&lt;")
	if strings.Count(text, "<details>") != 1 || strings.Index(text, "<details>") > strings.Index(text, "hidden") ||
		strings.Index(text, "<details>") < strings.Index(text, "return") {
		t.Errorf("the second cell alone should be folded:\n%s", text)
	}
	if strings.Contains(text, "temml") {
		t.Error("a page without formulas has the script for them")
	}
}
