package runs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// cellDisplay is a Display that records its calls.
type cellDisplay struct {
	bytes.Buffer
	fractions []float64
	texts     []string
}

func (s *cellDisplay) Show(fraction float64, text string) {
	s.fractions, s.texts = append(s.fractions, fraction), append(s.texts, text)
}
func (s *cellDisplay) Clear() {}

// always is the cost of steps that are equally long.
func always(cost float64) func(int) float64 { return func(int) float64 { return cost } }

// The time left is estimated from the cost of the steps, not from their number, and without the time until the first,
// which loads data and compiles. Plain lines come at most every 10 seconds; a writer that is a Display gets all of it.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var cell cellDisplay
		for _, p := range []*progress{newProgress(&out), newProgress(&cell)} {
			steps := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			cheap := &task{jobs: []Job{{Spec: spec(0), Cost: always(2)}}, left: steps}
			dear := &task{jobs: []Job{{Spec: spec(1), Cost: always(8)}}, left: steps}
			p.begin(3, 2, amount{steps: 20, weight: 100})
			time.Sleep(time.Minute)
			for _, t := range steps {
				time.Sleep(2 * time.Second)
				p.step(cheap, t)
			}
			p.finished(cheap, 20*time.Second, true)
			p.finished(dear, 0, false)
		}
		want := "3 runs: 1 stored, 2 to compute (20 steps)\n" +
			"5%: 1/20 steps\n" +
			"30%: 6/20 steps\n" +
			"test/ours seed 0: done in 20s (10/20 steps, about 1m20s left)\n" +
			"test/ours seed 1: done by another process (10/10 steps)\n"
		if out.String() != want {
			t.Errorf("got\n%swant\n%s", &out, want)
		}
		if n := strings.Count(cell.String(), "\n"); n != 3 {
			t.Errorf("%d lines, want 3:\n%s", n, &cell)
		}
		if want := []float64{0, .05, .1}; !slices.Equal(cell.fractions[:3], want) ||
			cell.texts[7] != "7/20 steps, about 1m26s left" {
			t.Errorf("shown are %v, %q", cell.fractions, cell.texts)
		}
	})
}

// The cheap steps with which `all` begins say nothing of the others: no time is shown until they took a minute.
func TestProgressOfCheapSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cell cellDisplay
		p := newProgress(&cell)
		steps := []int{1, 2, 3, 4, 5}
		cheap := &task{jobs: []Job{{Spec: spec(0), Cost: always(1)}}, left: steps}
		p.begin(2, 2, amount{steps: 10, weight: 299})
		for _, t := range steps {
			time.Sleep(20 * time.Second)
			p.step(cheap, t)
		}
		if got := cell.texts[3:]; strings.Contains(got[0], "left") || !strings.HasSuffix(got[1], "about 1h38m20s left") {
			t.Errorf("shown are %q", got)
		}
	})
}
