package figures

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"

	"tvps/data/statistics"
)

// HeatMap is a matrix drawn as coloured cells.
type HeatMap struct {
	Key            string // part of the element's name
	Title          string
	XLabel, YLabel string
	ValueLabel     string
	XNames, YNames []string    // of columns and rows
	Values         [][]float64 // [row][column]; the first row is drawn at the bottom
	Low, High      float64     // ends of the scale of colours
	Notes          []string
}

// scale are colours from low to high that can be told apart with colour blindness, in light and dark, and in print:
// viridis (van der Walt and Smith).
var scale = []string{"#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"}

// alt is the map in words, for those who cannot see it.
func (m HeatMap) alt() string {
	return fmt.Sprintf("%s, by %s (columns) and %s (rows)", m.ValueLabel, m.XLabel, m.YLabel)
}

// Part returns the map for the template "panel" of [Parts]: picture, notes, and the table of its cells. It is drawn
// by a script if the part is made Live.
func (m HeatMap) Part(fig Figure) (PanelPart, error) {
	if len(m.Values) == 0 || len(m.Values) != len(m.YNames) || !(m.Low < m.High) || slices.ContainsFunc(m.Values,
		func(row []float64) bool { return len(row) != len(m.XNames) || !statistics.Finite(row...) }) {
		return PanelPart{}, fmt.Errorf("figures: heat map %s: each of %d names needs a row of %d finite values", m.Key,
			len(m.YNames), len(m.XNames))
	}
	picture, err := m.svg()
	if err != nil {
		return PanelPart{}, err
	}
	table := pointTable{Caption: m.alt(), Head: append([]string{""}, m.XNames...)}
	for i := len(m.Values) - 1; i >= 0; i-- {
		row := []string{m.YNames[i]}
		for _, v := range m.Values[i] {
			row = append(row, strconv.FormatFloat(v, 'f', 2, 64))
		}
		table.Rows = append(table.Rows, row)
	}
	return PanelPart{Stem: Stem(fig.Name, m.Key), Title: m.Title, Alt: m.alt(), Picture: picture, Notes: m.Notes,
		Points: table}, nil
}

// tone is the colour of a value.
func (m HeatMap) tone(v float64) color.NRGBA {
	at := min(1, max(0, (v-m.Low)/(m.High-m.Low))) * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	from, to := channels(scale[i]), channels(scale[i+1])
	mix := func(c int) uint8 { return uint8(math.Round(255 * (from[c] + (at-float64(i))*(to[c]-from[c])))) }
	return color.NRGBA{R: mix(0), G: mix(1), B: mix(2), A: 255}
}

// svg draws the cells as an image of one pixel each, with names and scale in the colours of [CSS].
func (m HeatMap) svg() (template.HTML, error) {
	columns, rows := len(m.XNames), len(m.YNames)
	cells := image.NewNRGBA(image.Rect(0, 0, columns, rows))
	for i, row := range m.Values {
		for j, v := range row {
			cells.SetNRGBA(j, rows-1-i, m.tone(v))
		}
	}
	var pixels bytes.Buffer
	if err := png.Encode(&pixels, cells); err != nil {
		return "", fmt.Errorf("figures: cannot encode the picture: %w", err)
	}
	const left, top, width, height = 90., 34., 560., 400.
	var b strings.Builder
	text := func(x, y float64, anchor, content string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="var(--ink,#222222)">%s</text>`, x, y, anchor,
			html.EscapeString(content))
	}
	fmt.Fprintf(&b, `<svg role="img" aria-label="%s" viewBox="0 0 720 500" font-size="11" `+
		`font-family="'Liberation Sans',Arial,Helvetica,sans-serif">`, html.EscapeString("Chart: "+m.alt()))
	fmt.Fprintf(&b, `<image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" `+
		`style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`, left, top, width, height,
		base64.StdEncoding.EncodeToString(pixels.Bytes()))
	for j := 0; j < columns; j += (columns + 7) / 8 {
		text(left+(float64(j)+.5)*width/float64(columns), top+height+16, "middle", m.XNames[j])
	}
	for i := 0; i < rows; i += (rows + 9) / 10 {
		text(left-6, top+height-(float64(i)+.5)*height/float64(rows)+4, "end", m.YNames[i])
	}
	text(left+width/2, top+height+38, "middle", m.XLabel)
	text(left, 20, "start", m.YLabel)
	b.WriteString(`<defs><linearGradient id="scale-` + m.Key + `" x1="0" y1="1" x2="0" y2="0">`)
	for i, c := range scale {
		fmt.Fprintf(&b, `<stop offset="%g" stop-color="%s"/>`, float64(i)/float64(len(scale)-1), c)
	}
	fmt.Fprintf(&b, `</linearGradient></defs><rect x="668" y="%g" width="14" height="%g" fill="url(#scale-%s)"/>`, top,
		height, m.Key)
	text(686, top+8, "start", fmt.Sprint(m.High))
	text(686, top+height, "start", fmt.Sprint(m.Low))
	b.WriteString("</svg>")
	return template.HTML(b.String()), nil
}

// chart is the map as chart.js takes it.
func (m HeatMap) chart(fig Figure) chart {
	var data [][3]float64
	for i, row := range m.Values {
		for j, v := range row {
			data = append(data, [3]float64{float64(j), float64(i), math.Round(1e4*v) / 1e4})
		}
	}
	axis := func(names []string) map[string]any {
		return map[string]any{"type": "category", "data": names,
			"axisLabel": map[string]any{"interval": (len(names) - 1) / 10, "hideOverlap": true, "fontSize": 10, "width": 68,
				"overflow": "truncate"}}
	}
	x := axis(m.XNames)
	x["name"], x["nameLocation"], x["nameGap"] = m.XLabel, "center", 30
	y := axis(m.YNames)
	y["name"], y["nameLocation"], y["nameGap"] = m.YLabel, "center", 84
	return chart{Key: Stem(fig.Name, m.Key), Option: map[string]any{
		"animation": false, "tooltip": map[string]any{"show": true, "trigger": "item"}, "dataZoom": []any{},
		"legend": map[string]any{"show": false, "data": []string{}}, "grid": map[string]any{"bottom": "110px"},
		"xAxis": []any{x}, "yAxis": []any{y},
		"visualMap": map[string]any{"min": m.Low, "max": m.High, "calculable": true, "orient": "horizontal", "left": "center",
			"bottom": "0", "inRange": map[string]any{"color": scale}},
		"series": []any{map[string]any{"type": "heatmap", "data": data,
			"dimensions": []string{m.XLabel, m.YLabel, m.ValueLabel}}},
	}}
}
