package figures

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/go-echarts/go-echarts/v2/opts"
)

// DefaultScript is the address of echarts on the network, unless [WithScript] gives another.
const DefaultScript = "https://go-echarts.github.io/go-echarts-assets/assets/" + opts.EchartsJS

// defaultIntegrity is the hash of the script at DefaultScript, ECharts 5.4.3. Browsers refuse
// any other. It is of the same bytes as the SHA-256 in package data/echarts.
const defaultIntegrity = "sha384-PpgrXpnquO1pL7h9CGCAR6K7B62r8ZFzdHKzC/FtQ/0Pm4MLQNTcS2yt12JX+rkb"

// Option adjusts [Page], [Snippet] and [Write].
type Option func(*settings)

type settings struct {
	script  string
	echarts []byte   // its text, to lie next to the page
	cell    []string // nil unless for a notebook's cell
}

// WithScript makes pages load echarts from src: an address, or a path as the browser
// resolves it from the page, such as "/files/echarts.min.js" in Jupyter.
func WithScript(src string) Option { return func(s *settings) { s.script = src } }

// WithEChartsFile makes [Write] put the text of echarts.min.js next to the page, which then
// draws its charts without a network. A nil text has no effect.
func WithEChartsFile(text []byte) Option { return func(s *settings) { s.echarts = text } }

// WithCell makes a [Snippet] for the output of a notebook cell. The static picture is an
// output of its own before it, so the snippet has none; the script hides that picture once the
// chart is drawn. It loads echarts from the first of sources that answers, where {base} stands
// for Jupyter's base URL. On pages that Jupyter does not serve, such as an export, it then
// tries [DefaultScript], or the address that WithScript gives.
func WithCell(sources ...string) Option {
	return func(s *settings) { s.cell = append([]string{}, sources...) }
}

func newSettings(options []Option) settings {
	s := settings{script: DefaultScript}
	for _, option := range options {
		option(&s)
	}
	return s
}

var (
	//go:embed chart.js
	chartJS    string
	drawScript = withoutComments(chartJS)
)

// withoutComments leaves out the lines of a script that are comments: each cell has a copy.
func withoutComments(script string) string {
	return strings.TrimSpace(regexp.MustCompile(`(?m)^\s*//.*\n`).ReplaceAllString(script, ""))
}

// Snippet returns one panel as a piece of HTML: its static picture (but see [WithCell]) and
// one script, which loads echarts first if needed. It is one script because JupyterLab does
// not wait for a script before it runs the next.
func Snippet(fig Figure, panel string, options ...Option) (string, error) {
	picture, err := SVG(fig, panel) // validates
	if err != nil {
		return "", err
	}
	p, err := fig.Panel(panel)
	if err != nil {
		return "", err
	}
	o := newSettings(options)
	notes := strings.Join(fig.footnotes(p), " ")
	all := describe(fig, []Panel{p})
	if o.cell != nil {
		return cellSnippet(all[0], panelTitle(p), notes, o)
	}
	script, err := drawCall(all, []string{o.script}, "[]")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<p><b>%s</b></p>\n"+
		"<div data-chart=%q style=\"width:100%%\"><img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\"></div>\n"+
		"<p><small>%s</small></p>\n<script>\n%s\n</script>\n",
		html.EscapeString(panelTitle(p)), all[0].Key, html.EscapeString(p.AltText()),
		base64.StdEncoding.EncodeToString(picture), html.EscapeString(notes), script), nil
}

// cellSnippet shows nothing without its script. Its key depends on the chart's content,
// because JupyterLab puts several notebooks into one page.
func cellSnippet(c chart, title, notes string, o settings) (string, error) {
	c.Title, c.Notes = title, notes
	content, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("figures: cannot describe the chart %s: %w", c.Key, err)
	}
	c.Key = fmt.Sprintf("%s-%x", c.Key, sha256.Sum256(content))[:len(c.Key)+9]
	elsewhere, err := json.Marshal([]string{o.script})
	if err != nil {
		return "", err
	}
	script, err := drawCall([]chart{c}, o.cell, string(elsewhere))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<div data-chart=%q style=\"width:100%%\"></div>\n<script>\n%s\n</script>\n", c.Key, script), nil
}
