package figures

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

var (
	//go:embed page.js
	pageJS      string
	dressScript = withoutComments(pageJS)

	//go:embed page.html
	pageText     string
	pageTemplate = template.Must(Parts().New("page").Funcs(template.FuncMap{"panels": panelList}).Parse(pageText))
)

// Page returns index.html: title, answer and all charts on the first screen, with one legend; then the claims, a line
// each; then means, points, data, command and links. The page looks for echarts.min.js next to itself,
// then in the folder above, then on the network; without any of them, and in print, it shows
// static pictures. No sentence stands on it twice: notes of several panels come once, before
// the panels, and those that repeat a sentence of Figure.Data stand only there. The page of a
// [Draft] reloads itself.
func Page(fig Figure) ([]byte, error) {
	data, err := pageOf(fig)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, data); err != nil {
		return nil, fmt.Errorf("figures: cannot write the page of %s: %w", fig.Name, err)
	}
	return page.Bytes(), nil
}

// page is what page.html shows.
type page struct {
	Figure
	Style        template.CSS
	Panels       []PanelPart
	Shared, Data []string     // notes of several panels, sentences about the data
	Legend       []legendItem // that all panels share
	Beside       []Chart      // the panels of which the paper says something
	Links        []Link
	Script       template.JS
}

func pageOf(fig Figure) (page, error) {
	if err := fig.Validate(); err != nil {
		return page{}, err
	}
	out := page{Figure: fig, Style: CSS(fig), Legend: legendOf(fig.Panels)}
	out.Title = cmp.Or(fig.Title, fig.Name)
	own, shared, data := arrange(fig)
	out.Shared, out.Data = shared, data
	for _, p := range fig.Panels {
		if p.Paper != "" {
			out.Beside = append(out.Beside, p)
		}
		part, err := NewPanelPart(fig, p)
		if err != nil {
			return page{}, err
		}
		part.Title, part.Live, part.Notes = panelTitle(p), true, own[p.Key]
		for _, ending := range append([]string{DrawnTable}, pictures...) {
			part.Files = append(part.Files, part.Stem+ending)
		}
		for _, t := range p.notDrawn() {
			part.Files = append(part.Files, part.Stem+t.ending)
		}
		out.Panels = append(out.Panels, part)
	}
	provenance := Link{"Runs with their settings, commits and versions", ProvenanceFile, ProvenanceFile}
	out.Links = append([]Link{provenance}, fig.Links...)
	script, err := Script(fig, nil)
	out.Script = script
	return out, err
}

// Script is the script of a page of one's own: it draws the panels and heat maps into the elements that the template
// "panel" of [Parts] makes for parts that are Live.
func Script(fig Figure, maps []HeatMap) (template.JS, error) {
	var drawn []chart
	for _, p := range fig.Panels {
		drawn = append(drawn, fig.chart(p))
	}
	for _, m := range maps {
		drawn = append(drawn, m.chart(fig))
	}
	script, err := drawCall(drawn, pageSources, "[]", dressScript)
	return template.JS(script), err
}

// arrange sorts the notes of all panels, each of them once: those of one panel, by its key, those of several, and those
// that repeat what the figure says about its data.
func arrange(fig Figure) (own map[string][]string, shared, data []string) {
	var texts []string
	panels := map[string][]string{} // by sentence
	for _, p := range fig.Panels {
		for _, note := range p.footnotes() {
			if panels[note] == nil {
				texts = append(texts, note)
			}
			if !slices.Contains(panels[note], p.Key) {
				panels[note] = append(panels[note], p.Key)
			}
		}
	}
	own = map[string][]string{}
	about := map[string][]string{} // panels by sentence about data
	for _, text := range texts {
		keys := panels[text]
		same := func(sentence string) bool { return strings.TrimRight(sentence, ".") == strings.TrimRight(text, ".") }
		switch i := slices.IndexFunc(fig.Data, same); {
		case i >= 0:
			about[fig.Data[i]] = keys
		case len(keys) > 1:
			shared = append(shared, inPanels(fig, keys)+text)
		default:
			own[keys[0]] = append(own[keys[0]], text)
		}
	}
	for _, sentence := range fig.Data {
		data = append(data, inPanels(fig, about[sentence])+sentence)
	}
	return own, shared, data
}

// inPanels says which panels a sentence concerns, in front of it; nothing if it is all.
func inPanels(fig Figure, keys []string) string {
	switch len(keys) {
	case 0, len(fig.Panels):
		return ""
	}
	return "P" + strings.TrimPrefix(panelList(keys), "p") + ": "
}

func panelList(keys []string) string { return listed("panel", keys) }

// legendItem is one line of a legend.
type legendItem struct {
	Label, Dash string
	Paint       template.CSS
}

// legendOf lists what panels draw, each look once. It names the panels of a mean that others draw as a curve, and of
// lines that look alike.
func legendOf(panels []Chart) []legendItem {
	var out []legendItem
	in := map[string][]string{} // panels by label
	for _, p := range panels {
		for _, e := range p.lines() {
			in[e.label] = append(in[e.label], p.Key)
			paint := template.CSS(fmt.Sprintf("var(%s, %s)", colorName(e.color), e.color))
			if one := (legendItem{e.label, e.dash, paint}); !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	for i, item := range out {
		if curve, mean := strings.CutSuffix(item.Label, ofMean); mean && len(in[curve]) > 0 {
			out[i].Label = fmt.Sprintf("mean of %s (%s)", curve, panelList(in[item.Label]))
		} else if slices.ContainsFunc(out, func(o legendItem) bool {
			return o.Label != item.Label && o.Dash == item.Dash && o.Paint == item.Paint
		}) {
			out[i].Label = fmt.Sprintf("%s: %s", panelList(in[item.Label]), item.Label)
		}
	}
	return out
}
