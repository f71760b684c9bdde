package check

import (
	"errors"
	"os"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/nbformat"
)

// The outputs in the file may differ from a run in what depends on the processor, and in nothing else.
func TestStored(t *testing.T) {
	set := func(mime string, value any) func(*nbformat.Output) {
		return func(o *nbformat.Output) { o.Data[mime] = value }
	}
	values := func(share any) any { return map[string]any{"values": map[string]any{"share": share}} }
	for _, c := range []struct {
		name string
		edit func(*nbformat.Output)
		want string // in the report; empty if the file is fresh
	}{
		{"the same", func(*nbformat.Output) {}, ""},
		{"a number within its tolerance", set(valuesMIME, values(2.1)), ""},
		{"a number beyond it", set(valuesMIME, values(2.3)), "off   1     share  2.3"},
		{"no number", set(valuesMIME, values("x")), `"share\" is x, not a finite`},
		{"no numbers", set(valuesMIME, 7), "cannot unmarshal number"},
		{"another text", set("text/plain", "old numbers"), "text/plain"},
		{"another type", set("text/html", "<p>"), "text/html"},
		{"a picture that a run does not make", set("image/png", "AAAA"), "image/png"},
	} {
		b := newFixture(t)
		b.rules = someRules
		b.cells(t, `{"values":{"share":2}}`)
		nb, err := nbformat.Read(b.file)
		demand.NoError(t, err)
		c.edit(&nb.Cells[0].Outputs[0])
		demand.NoError(t, nbformat.Write(b.file, nb))
		report, err := b.check(t)
		if fresh := c.want == ""; fresh != (err == nil) || !strings.Contains(report, c.want) {
			t.Errorf("%s: %v, report %s", c.name, err, report)
		}
		if c.want == "" {
			continue
		}
		if !errors.Is(err, errDiffer) {
			t.Errorf("%s: %v, want ErrDiffer", c.name, err)
		}
		b.Update = true
		if _, err := b.check(t); err != nil {
			t.Errorf("%s: --update: %v", c.name, err)
		}
		b.Update = false
		before, _ := os.ReadFile(b.file)
		if _, err := b.check(t); err != nil {
			t.Errorf("%s: after --update: %v", c.name, err)
		}
		if nb, _ := nbformat.Parse(before); nb == nil || len(nb.Cells[0].Outputs) != 1 {
			t.Errorf("%s: --update wrote %s", c.name, before)
		}
	}
}

// In a cell whose outputs say that they are of the gallery, a number or a verdict in the file must be the present one.
// In a cell that computes it may differ: it depends on the processor.
func TestStoredGallery(t *testing.T) {
	printed := func(from, text string) *nbformat.Notebook {
		numbers := map[string]any{"values": map[string]any{}}
		if from != "" {
			numbers["from"] = from
		}
		return &nbformat.Notebook{Cells: []*nbformat.Cell{{
			Type: nbformat.Code, ID: "found",
			Outputs: []nbformat.Output{{Type: nbformat.Stream, Name: "stdout", Text: text},
				{Type: nbformat.DisplayData, Data: nbformat.MIMEBundle{valuesMIME: numbers}}},
		}}}
	}
	was := "0 of 18 runs stored: undecided"
	for from, want := range map[string]bool{"gallery": true, "": false} {
		for _, now := range []string{"9 of 18 runs stored: undecided", "0 of 18 runs stored: holds"} {
			if found := stale(printed(from, was), printed(from, now)); len(found) > 0 != want {
				t.Errorf("from %q: %q is stale: %v", from, now, found)
			}
		}
		if found := stale(printed(from, was), printed(from, was)); len(found) > 0 {
			t.Errorf("from %q: the same text is stale: %v", from, found)
		}
	}
}

func TestMask(t *testing.T) {
	for _, pair := range [][2]string{
		{`<div data-chart="fig01-b-6a9b58ba"> −0.25 [-1.2e-05, .5]`, `<div data-chart="fig01-b-00ff00aa"> 12 [3, −4]`},
		{"panel a: holds  x", "panel a: does not hold x"},
		{"undecided      claim", "holds          claim"},
		{"go1.26.1, 70% of 3", "go1.27, 0% of 12"},
		{"9.7e−05 [−1e−06, .5]", "0.0001 [−0.0001, .5]"},
	} {
		demand.Equal(t, mask(pair[0]), mask(pair[1]), "%q and %q differ", pair[0], pair[1])
	}
	for _, pair := range [][2]string{
		{"g-rate=0.003, g-start=scratch", "g-rate=0.003, g-schedule=constant, g-start=scratch"},
		{"Ours 1", "Everything 1"},
		{"tau=0.005, threads=0, update-every=1", "tau=0.005, threads=1, update-every=1"},
	} {
		if mask(pair[0]) == mask(pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}

// TestSettled: a stream may arrive before or after what is displayed, and in pieces. Its text and the order of what is
// displayed count.
func TestSettled(t *testing.T) {
	stream := func(name, text string) nbformat.Output {
		return nbformat.Output{Type: nbformat.Stream, Name: name, Text: text}
	}
	show := func(text string) nbformat.Output {
		return nbformat.Output{Type: nbformat.DisplayData, Data: nbformat.MIMEBundle{"text/plain": text}}
	}
	file := []nbformat.Output{stream("stdout", "a\nb\n"), show("c"), show("d")}
	for name, c := range map[string]struct {
		run  []nbformat.Output
		want string
	}{
		"as it is":      {file, ""},
		"late":          {[]nbformat.Output{show("c"), show("d"), stream("stdout", "a\nb\n")}, ""},
		"in pieces":     {[]nbformat.Output{stream("stdout", "a\n"), show("c"), stream("stdout", "b\n"), show("d")}, ""},
		"other text":    {[]nbformat.Output{stream("stdout", "b\na\n"), show("c"), show("d")}, "stream stdout"},
		"other stream":  {[]nbformat.Output{stream("stderr", "a\nb\n"), show("c"), show("d")}, "stream stdout"},
		"other display": {[]nbformat.Output{stream("stdout", "a\nb\n"), show("d"), show("c")}, "text/plain"},
		"one less":      {[]nbformat.Output{stream("stdout", "a\nb\n"), show("c")}, "number of outputs"},
	} {
		if got, _ := staleCell(file, c.run, exact); got.What != c.want {
			t.Errorf("%s: %q, want %q", name, got.What, c.want)
		}
	}
	// A kind of output more: what is shown of its text ends with a whole character.
	more := show("c")
	more.Data["text/html"] = "a" + strings.Repeat("é", 60)
	got, _ := staleCell(file, []nbformat.Output{file[0], more, file[2]}, exact)
	demand.Equal(t, got.Now, "a"+strings.Repeat("é", 19), "the excerpt of %s", got.What)
}
