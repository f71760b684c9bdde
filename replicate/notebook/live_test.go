package notebook

import (
	"context"
	"errors"
	"slices"
	"testing"

	"tvps/ci/demand"
)

func TestControl(t *testing.T) {
	s := Slider("drift", 0, .3, .1, .21)
	if s.Value() != .2 || s.Text() != "0.2" || !s.set(3) || s.Value() != .3 {
		t.Errorf("the slider is at %v", s.Value())
	}
	if s.set(4) || s.set(-1) || s.set(3) || s.Value() != .3 {
		t.Errorf("a position that is out of range or the same moved the slider to %v", s.Value())
	}
	c := Choice("clip", "one", "none")
	if c.Text() != "one" || !c.set(1) || c.Text() != "none" || c.set(2) {
		t.Errorf("the choice is %q", c.Text())
	}
}

// Each draw replaces the outputs of the one before. Pictures follow at the end, as they are then.
func TestLive(t *testing.T) {
	r := record(t)
	s := Slider("x", 0, 5, 1, 1)
	draw := func() {
		for _, mime := range []string{PNGMIME, HTMLMIME} {
			output.display(message{data: map[string]any{mime: s.Text(), PlainMIME: mime}})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	moves := []int{2, 4}
	connect := func(_ context.Context, _ string, _ []*Control, changed chan<- struct{}) error {
		go func() {
			for _, position := range moves {
				s.set(position)
				changed <- struct{}{}
			}
			changed <- struct{}{} // taken after the last draw but one
			cancel()
		}()
		return nil
	}
	live(ctx, draw, []*Control{s}, connect)
	byID := map[string][]string{}
	for _, m := range r.messages {
		for _, mime := range []string{PNGMIME, HTMLMIME} {
			if text, ok := m.data[mime].(string); ok {
				byID[m.id] = append(byID[m.id], text)
			}
		}
	}
	var pictures, charts, notes []string
	for id, texts := range byID {
		switch {
		case id[:4] == "cont":
			notes = texts
		case id[len(id)-1] == '0':
			pictures = texts
		default:
			charts = texts
		}
	}
	if len(byID) != 3 || len(notes) != 2 || !slices.Equal(pictures, []string{"1", "4"}) {
		t.Errorf("pictures %v, notes %v", pictures, notes)
	}
	if charts[0] != "1" || charts[len(charts)-1] != "4" {
		t.Errorf("charts %v, want the first and the last value", charts)
	}
	if output != sink(r) {
		t.Error("later outputs of the cell would replace those of the controls")
	}
}

// Without a front end the cell shows the first values and ends, and what it shows is the same each time.
func TestLiveWithoutFrontEnd(t *testing.T) {
	r := record(t)
	draws := 0
	live(context.Background(), func() { draws++; Values(map[string]float64{"x": 1}) }, nil,
		func(context.Context, string, []*Control, chan<- struct{}) error { return errors.New("no answer") })
	if draws != 1 || len(r.messages) != 3 || r.messages[0].id != r.messages[2].id || r.messages[0].id == r.messages[1].id {
		t.Fatalf("%d draws, messages %v", draws, r.messages)
	}
	want := "The controls need JupyterLab. These outputs are for their first values."
	demand.Equal(t, r.content(t, 2, PlainMIME), want, "text")
}
