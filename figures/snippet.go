package figures

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var (
	//go:embed chart.js
	chartJS    string
	drawScript = withoutComments(chartJS)
)

// withoutComments leaves out the lines of a script that are comments: each cell has a copy.
func withoutComments(script string) string {
	return strings.TrimSpace(regexp.MustCompile(`(?m)^\s*//.*\n`).ReplaceAllString(script, ""))
}

// Snippet returns one panel as the HTML output of a notebook's cell: one script, which loads ECharts first if needed.
// It is one script because JupyterLab does not wait for a script before it runs the next. The static picture is an
// output of its own before it, which the script hides once the chart is drawn. On pages that Jupyter does not serve,
// such as an export, the script loads ECharts from the network.
//
// The chart's key depends on its content, because JupyterLab puts several notebooks into one page.
func Snippet(fig Figure, p Chart) (string, error) {
	if err := fig.Validate(); err != nil {
		return "", err
	}
	c := fig.chart(p)
	c.Title, c.Notes = panelTitle(p), strings.Join(append(p.footnotes(), fig.Source...), " ")
	content, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("figures: cannot describe the chart %s: %w", c.Key, err)
	}
	c.Key = fmt.Sprintf("%s-%x", c.Key, sha256.Sum256(content))[:len(c.Key)+9]
	script, err := drawCall([]chart{c}, cellSources, fmt.Sprintf("[%q]", published.Src))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<div data-chart=%q style=\"width:100%%\"></div>\n<script>\n%s\n</script>\n", c.Key, script), nil
}
