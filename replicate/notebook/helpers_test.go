package notebook

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
)

// recorder is a sink that keeps all messages.
type recorder struct {
	mutex    sync.Mutex
	messages []message
}

func (r *recorder) display(m message) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.messages = append(r.messages, m)
}

// record replaces the front end with a recorder for one test.
func record(t *testing.T) *recorder {
	t.Helper()
	r, before := &recorder{}, output
	output = r
	t.Cleanup(func() { output = before })
	return r
}

// types lists the MIME types of each message.
func (r *recorder) types() []string {
	var out []string
	for _, m := range r.messages {
		out = append(out, fmt.Sprint(slices.Sorted(maps.Keys(m.data))))
	}
	return out
}

// content returns message i in one type, as text.
func (r *recorder) content(t *testing.T, i int, mime string) string {
	t.Helper()
	if i >= len(r.messages) {
		t.Fatalf("there are %d messages", len(r.messages))
	}
	text, ok := r.messages[i].data[mime].(string)
	if !ok {
		t.Fatalf("message %d has no %s: %v", i, mime, r.types())
	}
	return text
}

// sample is a figure with two panels. In panel a, ours is 0.2 above Everything in seed 0 and 0.4 in seed 1.
func sample(t *testing.T) (figures.Figure, []figures.Row) {
	t.Helper()
	var rows []figures.Row
	for _, panel := range []string{"a", "b"} {
		for step := range 3 {
			for seed, gain := range []float64{.2, .4} {
				rows = append(rows,
					figures.Row{Panel: panel, Series: "everything", Seed: int64(seed), T: step, Metric: "accuracy", Value: .5},
					figures.Row{Panel: panel, Series: "ours", Seed: int64(seed), T: step, Metric: "accuracy", Value: .5 + gain})
			}
		}
	}
	fig := figures.Figure{Name: "fig99", Source: []string{"Scale <tiny>."}}
	for _, key := range []string{"a", "b"} {
		points, err := figures.Relative(rows, key, "accuracy", "ours", "everything")
		demand.NoError(t, err)
		fig.Panels = append(fig.Panels, figures.Chart{Key: key, Title: "Panel <" + key + ">", XLabel: "t", YLabel: "gain",
			Series: []figures.Series{figures.NewSeries("ours", points)}, Reference: figures.NewReference("everything", 0)})
	}
	return fig, rows
}
