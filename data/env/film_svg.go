package env

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// svg is a picture. Each animated attribute has one value per frame.
type svg struct {
	out     bytes.Buffer
	seconds float64 // duration of the animation
}

func newSVG(width, height int, seconds float64) *svg {
	s := &svg{seconds: seconds}
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`width="%d" height="%d" font-family="sans-serif">`, width, height, width, height)
	s.printf(`<rect width="%d" height="%d" fill="#ffffff"/>`, width, height)
	return s
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *svg) text(x, y float64, anchor string, size int, text string) {
	s.printf(`<text x="%.0f" y="%.0f" text-anchor="%s" font-size="%d" fill="#222">%s</text>`,
		x, y, anchor, size, escape(text))
}

// animate returns an element that animates an attribute of its parent, or "" if all values
// are the same.
func (s *svg) animate(attribute string, values []string) string {
	if !slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
		return ""
	}
	return fmt.Sprintf(`<animate attributeName="%s" values="%s" %s/>`, attribute, strings.Join(values, ";"), s.timing())
}

// transform returns an element that animates a transformation of its parent: "translate" or
// "rotate".
func (s *svg) transform(kind string, values []string) string {
	return fmt.Sprintf(`<animateTransform attributeName="transform" type="%s" values="%s" %s/>`,
		kind, strings.Join(values, ";"), s.timing())
}

func (s *svg) timing() string { return fmt.Sprintf(`dur="%.3gs" repeatCount="indefinite"`, s.seconds) }

// captions shows one text per frame at the same place; there are at least two.
func (s *svg) captions(x, y float64, texts []string) {
	for i, text := range texts {
		from, to := float64(i)/float64(len(texts)), float64(i+1)/float64(len(texts))
		first, values, times := "hidden", "hidden;visible;hidden", fmt.Sprintf("0;%.4f;%.4f", from, to)
		switch i {
		case 0:
			first, values, times = "visible", "visible;hidden", fmt.Sprintf("0;%.4f", to)
		case len(texts) - 1:
			values, times = "hidden;visible", fmt.Sprintf("0;%.4f", from)
		}
		const caption = `<text x="%.0f" y="%.0f" font-size="13" fill="#222" visibility="%s">%s` +
			`<animate attributeName="visibility" values="%s" keyTimes="%s" calcMode="discrete" %s/></text>`
		s.printf(caption, x, y, first, escape(text), values, times, s.timing())
	}
}

// number formats a coordinate in pixels.
func number(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text))
	return b.String()
}
