package notebook

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

// values reads a message's numbers as `kernel check` does.
func values(t *testing.T, m message) map[string]float64 {
	t.Helper()
	text, err := json.Marshal(m.data[ValuesMIME])
	demand.NoError(t, err)
	var v struct{ Values map[string]float64 }
	demand.NoError(t, json.Unmarshal(text, &v))
	return v.Values
}

func TestValues(t *testing.T) {
	r := record(t)
	Values(map[string]float64{"b <": 1. / 3, "a": 2, "a, t = 100": 4, "A, t = 20": 3})
	if got := values(t, r.messages[0]); got["b <"] != 1./3 || got["a"] != 2 {
		t.Errorf("values %v: the numbers must keep all digits", got)
	}
	demand.Equal(t, r.content(t, 0, PlainMIME), "a = 2\nA, t = 20 = 3\na, t = 100 = 4\nb < = 0.3333", "text")
	demand.Words(t, r.content(t, 0, HTMLMIME), ">b &lt;<")
	Values(map[string]float64{"alpha": math.NaN(), "beta": math.Inf(-1), "c": 3}) // JSON has only the last one
	demand.Equal(t, r.content(t, 1, PlainMIME), "alpha = NaN\nbeta = -Inf\nc = 3", "text")
	text, err := json.Marshal(r.messages[1].data[ValuesMIME])
	demand.NoError(t, err)
	demand.Equal(t, string(text), `{"values":{"alpha":"NaN","beta":"-Inf","c":3}}`, "numbers")
}

// Numbers say that they are of the gallery unless the cell computes a figure.
func TestFromGallery(t *testing.T) {
	t.Cleanup(func() { showsGallery, computes = false, false })
	for _, c := range []struct {
		calls []string
		want  any
	}{{nil, nil}, {[]string{"plot"}, nil}, {[]string{"found"}, "gallery"}, {[]string{"measured", "plot"}, "gallery"},
		{[]string{"measured", "figure"}, nil}} {
		showsGallery, computes = false, false
		for _, call := range c.calls {
			mark(call)
		}
		demand.Equal(t, valuesOf(nil)["from"], c.want, "after %v", c.calls)
	}
}

func TestMeansAndBinned(t *testing.T) {
	points := func(s Series) (all []float64) {
		for i := range s.X {
			all = append(all, s.X[i], s.Y[i])
		}
		return all
	}
	means := Means("a", []int32{3, 1, 3, 1, 3, 7, 7, 8}, []float64{1, 10, 2, 20, 6, 4, math.NaN(), math.NaN()})
	if got := points(means); means.Name != "a" || !slices.Equal(got, []float64{1, 15, 3, 3, 7, 4}) {
		t.Errorf("means by group %v", got)
	}
	x, y := []float64{5, 1, 4, 2, 3}, []float64{50, 10, 40, 20, 30}
	demand.List(t, points(Binned("b", 2, x, y)), []float64{1.5, 15, 4, 40}, "bins")
	demand.List(t, points(Binned("b", 9, x[:2], y[:2])), []float64{1, 10, 5, 50}, "more bins than points")
	if got := points(Binned("b", 3, nil, nil)); len(got) > 0 {
		t.Errorf("bins of no points: %v", got)
	}
}

// A curve that cannot be drawn is named.
func TestWrongCurves(t *testing.T) {
	x := []float64{1, 2}
	for want, y := range map[string][]float64{
		`the curve "c" has 2 values of x and 3 of y`: {1, 2, 3},
		`the curve "c" has the point (2, NaN)`:       {1, math.NaN()},
		`the curve "c" has the point (1, +Inf)`:      {math.Inf(1), 2},
	} {
		demand.Error(t, Dashed("c", x, y).wrong(), want)
	}
	demand.NoError(t, Curve("c", x, x).wrong())
}

func TestMeasurements(t *testing.T) {
	var m Measurements
	for step := range 3 {
		for seed, gain := range []float64{.2, .4} {
			at := float64(step) / 10
			m = append(m, Measurement{"everything", int64(seed), step, .5 + at}, Measurement{"ours", int64(seed), step, .5 + gain + at})
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		demand.Near(t, what, got, want)
	}
	near("the mean over all steps", m.Mean("ours", 0, 2), .9)
	near("the mean of the last steps", m.Mean("ours", 1, 2), .95)
	near("the difference", m.Difference("ours", "everything", 1, 1), .3)
	near("the share above", m.Above("everything", "ours"), 0)
	near("the mean of seed 1", m.SeedMeans("ours")[1], 1)
	if got := m.Steps(); len(got) != 3 || got[2] != 2 {
		t.Errorf("steps %v", got)
	}
	// A seed that has more steps counts no more than the others.
	near("the mean of unequal seeds", append(m, Measurement{"ours", 1, 7, .2}).Mean("ours", 0, 9),
		(.8+(.9+1+1.1+.2)/4)/2)
}

var _ artifact.Display = &Progress{}

// One output changes in place. Text in it is escaped, not shown as HTML.
func TestProgress(t *testing.T) {
	r := record(t)
	p := NewProgress()
	p.Write([]byte("first\nsecond <line>\n"))
	p.Show(.1, "too soon")
	p.drawn = time.Time{}
	p.Show(.25, "3/12 steps & more")
	p.End("Done <1>.")
	if len(r.messages) != 3 {
		t.Fatalf("%d messages, want 3: %v", len(r.messages), r.messages)
	}
	for _, m := range r.messages {
		if m.id != p.id || m.id == "" {
			t.Errorf("an output of its own: %+v", m)
		}
	}
	want := `<progress value="0.250" max="1"></progress> 3/12 steps &amp; more<br><small>second &lt;line&gt;</small>`
	demand.Equal(t, r.content(t, 1, HTMLMIME), want, "html")
	if text := r.content(t, 1, PlainMIME); text != "3/12 steps & more\nsecond <line>" {
		t.Errorf("text %q", text)
	}
	if html := r.content(t, 2, HTMLMIME); html != "<small>Done &lt;1&gt;.</small>" {
		t.Errorf("the end is %s", html)
	}
}

// flush waits for GoNB, but not forever if GoNB does not answer.
func TestFlush(t *testing.T) {
	arrived := false
	flush(func() { time.Sleep(20 * time.Millisecond); arrived = true })
	if !arrived {
		t.Error("flush does not wait for GoNB")
	}
	flush(func() { select {} }) // returns
}

func TestPlainSink(t *testing.T) {
	var out strings.Builder
	plain{&out}.display(message{data: map[string]any{PlainMIME: "text"}})
	plain{&out}.display(message{id: "bar", data: map[string]any{PlainMIME: "50%"}})
	demand.Equal(t, out.String(), "text\n", "the terminal shows")
}
