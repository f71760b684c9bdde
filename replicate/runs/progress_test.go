package runs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// clocked returns a progress whose time the test sets.
func clocked(out *bytes.Buffer) (*progress, *time.Time) {
	p := newProgress(out)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	return p, &now
}

// Plain lines come at most every 10 seconds, and the time left is estimated from the cost of the steps, not from their
// number, and without the time until the first, which loads data and compiles.
func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	p, now := clocked(&out)
	cheap := &task{jobs: []Job{{Spec: spec(0), Cost: 2}}, left: 10}
	dear := &task{jobs: []Job{{Spec: spec(1), Cost: 8}}, left: 10}
	p.begin(3, 2, 20, 100)
	*now = now.Add(time.Minute)
	for step := range 10 {
		*now = now.Add(2 * time.Second)
		p.step(cheap, step, 2)
	}
	p.finished(cheap, 20*time.Second, true)
	want := "3 runs: 1 stored, 2 to compute (20 steps)\n" +
		"test/ours seed 0: step 0 (1/20 steps, 2%, 2 rows)\n" +
		"test/ours seed 0: step 5 (6/20 steps, 12%, 12 rows, about 1m28s left)\n" +
		"test/ours seed 0: done in 20s (10/20 steps, 20%, 20 rows, about 1m20s left)\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	out.Reset()
	p.finished(dear, 0, false)
	if want := "test/ours seed 1: done by another process (10/10 steps, 100%, 20 rows)\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// On a terminal one line updates, and notes stand above it.
func TestTerminalLine(t *testing.T) {
	var out bytes.Buffer
	p, now := clocked(&out)
	p.bar = newBar(&out)
	job := &task{jobs: []Job{{Spec: spec(0)}}, left: 4}
	p.begin(1, 1, 4, 4)
	for step := range 4 {
		*now = now.Add(time.Second)
		p.step(job, step, 1)
	}
	p.note("a note")
	p.end(Report{})
	text := out.String()
	for _, want := range []string{"1/4 steps, 25%, 1 row", "2/4 steps, 50%, 2 rows, about 2s left", "3/4 steps, 75%",
		"4/4 steps, 100%", "a note\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines != 2 { // the plan and the note
		t.Errorf("%d lines in %q", lines, text)
	}
	if !strings.Contains(text, "\r") {
		t.Errorf("nothing updates in %q", text)
	}
}

// cellDisplay is a Display that records its calls.
type cellDisplay struct {
	bytes.Buffer
	fractions []float64
	texts     []string
	cleared   int
}

func (s *cellDisplay) Show(fraction float64, text string) {
	s.fractions, s.texts = append(s.fractions, fraction), append(s.texts, text)
}
func (s *cellDisplay) Clear() { s.cleared++ }

// A writer that is a Display gets fraction and text, and plain lines like every writer.
func TestDisplay(t *testing.T) {
	var out cellDisplay
	p := newProgress(&out)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	job := &task{jobs: []Job{{Spec: spec(0)}}, left: 4}
	p.begin(1, 1, 4, 4)
	for step := range 4 {
		now = now.Add(time.Second)
		p.step(job, step, 1)
	}
	p.end(Report{})
	if want := []float64{0, .25, .5, .75, 1}; !slices.Equal(out.fractions, want) {
		t.Errorf("fractions %v, want %v", out.fractions, want)
	}
	if want := "2/4 steps, 50%, 2 rows, about 2s left"; len(out.texts) < 3 || out.texts[2] != want {
		t.Errorf("texts %q, the third should be %q", out.texts, want)
	}
	if want := "1 run: 0 stored, 1 to compute (4 steps)\n"; out.String() != want || out.cleared != 2 {
		t.Errorf("lines %q, want %q; cleared %d times, want 2", out.String(), want, out.cleared)
	}
}
