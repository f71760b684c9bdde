package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tvps/kernel/nbformat"
)

// Stale is an output in a notebook file that a run no longer makes.
type Stale struct {
	Cell     int    // the code cell, counted from 1
	ID       string // its id
	What     string // "number of outputs", or the MIME type or stream that differs
	Was, Now string // excerpts at the first difference
}

// stale compares the outputs in a notebook's file with those of a run. Numbers that are no settings and verdicts, which
// depend on the processor, and pictures are left out: emitted numbers are compared within their tolerances. In cells
// that show results of the checkout, numbers and verdicts must be the same.
func stale(file, run *nbformat.Notebook) []Stale {
	after := codeCells(run)
	var all []Stale
	for i, c := range codeCells(file) {
		same := mask
		if showsGallery(after[i].Outputs) {
			same = exact
		}
		if d, differ := staleCell(c.Outputs, after[i].Outputs, same); differ {
			d.Cell, d.ID = i+1, c.ID
			all = append(all, d)
		}
	}
	return all
}

func codeCells(nb *nbformat.Notebook) []*nbformat.Cell {
	return slices.DeleteFunc(slices.Clone(nb.Cells), func(c *nbformat.Cell) bool { return c.Type != nbformat.Code })
}

// staleCell returns the first difference between two lists of outputs, in what same leaves of their texts.
func staleCell(before, after []nbformat.Output, same func(string) string) (Stale, bool) {
	before, after = settled(before), settled(after)
	if len(before) != len(after) {
		return Stale{What: "number of outputs", Was: fmt.Sprint(len(before)), Now: fmt.Sprint(len(after))}, true
	}
	for i := range before {
		was, now := texts(before[i]), texts(after[i])
		for _, kind := range slices.Sorted(maps.Keys(was)) {
			if a, b := same(was[kind]), same(now[kind]); a != b {
				a, b = excerpts(a, b)
				return Stale{What: kind, Was: a, Now: b}, true
			}
			delete(now, kind)
		}
		for _, kind := range slices.Sorted(maps.Keys(now)) {
			was, is := excerpts("", same(now[kind]))
			return Stale{What: kind, Was: was, Now: is}, true
		}
	}
	return Stale{}, false
}

// settled returns the streams, each in one piece and sorted by name, and then the other outputs in their order. A
// stream and what is displayed come from a cell's program in two ways, and which of them arrives first may change.
func settled(outputs []nbformat.Output) []nbformat.Output {
	streams := map[string]nbformat.Output{}
	var others []nbformat.Output
	for _, o := range outputs {
		if o.Type != nbformat.Stream {
			others = append(others, o)
			continue
		}
		o.Text = streams[o.Name].Text + o.Text
		streams[o.Name] = o
	}
	var out []nbformat.Output
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		out = append(out, streams[name])
	}
	return append(out, others...)
}

// texts are the parts of an output that are compared, by stream or MIME type. A picture only has to be there; numbers,
// which are compared within their tolerances, have to be numbers.
func texts(o nbformat.Output) map[string]string {
	all := map[string]string{}
	if o.Text != "" {
		all["stream "+o.Name] = o.Text
	}
	for mime := range o.Data {
		text, _ := o.Data.Text(mime)
		if strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" || mime == valuesMIME {
			text = "present"
		}
		if _, err := valuesIn(o); err != nil && mime == valuesMIME {
			text = err.Error()
		}
		all[mime] = text
	}
	return all
}

var (
	chartKey = regexp.MustCompile(`-[0-9a-f]{8}\b`)
	numeral  = regexp.MustCompile(`([a-z]=)?[-+−]?\.?\d+(\.\d+)*([eE][-+−]?\d+)?`)
	verdicts = regexp.MustCompile(`\b(holds|partly|does not hold|undecided|not judged)\b`)
	blanks   = regexp.MustCompile(`\s+`)
)

// mask replaces what depends on the processor: numbers, the keys of charts, which are hashes of their numbers, and
// verdicts. The numbers of settings (name=value) stay.
func mask(text string) string {
	text = chartKey.ReplaceAllString(text, "-#")
	text = numeral.ReplaceAllStringFunc(text, func(number string) string {
		if strings.Contains(number, "=") {
			return number
		}
		return "#"
	})
	text = verdicts.ReplaceAllString(text, "VERDICT")
	return blanks.ReplaceAllString(text, " ")
}

func exact(text string) string { return text }

// excerpts cuts two texts to a few words around their first difference.
func excerpts(a, b string) (string, string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(s string) string { return strings.ToValidUTF8(s[max(0, at-20):min(len(s), at+40)], "") }
	return cut(a), cut(b)
}
