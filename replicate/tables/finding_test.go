package tables

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"
)

// TestUnseen: flat weights say that g missed the drift of what they follow: x for covariate weights, (x, y) for joint
// ones.
func TestUnseen(t *testing.T) {
	for _, drifting := range []string{InX, InY, InRule, ""} {
		var f Finding
		for _, name := range []string{InX, InY, InRule} {
			f.Questions = append(f.Questions, Question{Name: name, Drift: name == drifting})
		}
		for kind, want := range map[crossfit.Kind]bool{crossfit.Covariate: drifting == InX, crossfit.Joint: drifting != "",
			crossfit.Conditional: drifting == InRule} {
			if got := f.Unseen(kind); len(got) > 0 != want {
				t.Errorf("%s weights, drift in %q: notes %q", kind, drifting, got)
			}
		}
	}
}

// TestAnswer: a question is answered by the smallest p-value of its tests, with yes up to .05.
func TestAnswer(t *testing.T) {
	f := Finding{Questions: []Question{{Tests: []QuestionTest{{P: .3}, {P: .05}}}, {Tests: []QuestionTest{{P: .06}}}}}
	f.answer()
	if a, b := f.Questions[0], f.Questions[1]; a.P != .05 || !a.Drift || b.P != .06 || b.Drift {
		t.Errorf("%+v", f.Questions)
	}
}

// TestNamedColumns: a column is named as drifting if its p-value, corrected as all are, is at most .05: not where the
// test of all columns finds nothing, and none by chance next to one that drifts.
func TestNamedColumns(t *testing.T) {
	for _, test := range []struct {
		first, second float64 // p-values of two columns
		want          string
	}{{.02, .03, ""}, {.001, .03, "a"}, {.001, .01, "b a"}} {
		f := &Finding{Questions: []Question{{Name: InX, Tests: []QuestionTest{{P: 4 * test.first}, {P: .8}}}}}
		f.name(&crossfit.ColumnTest{P: test.first, Column: []float64{test.first, test.second}, Size: []float64{1, 2}},
			[]string{"a", "b"}, []int{0, 1})
		if got := strings.Join(f.Columns, " "); got != test.want {
			t.Errorf("p %v and %v: columns %q, not %q", test.first, test.second, got, test.want)
		}
	}
}

// TestLeaks: what tells the time or the label by itself is named, and nothing else.
func TestLeaks(t *testing.T) {
	rng := random.New(1, "leaks")
	var b strings.Builder
	b.WriteString("t,y,noise,curve,year,month,since,half,copy,status,shop,wave\n")
	for i := range 3000 {
		y := map[bool]string{true: "yes", false: "no"}[rng.IntN(3) == 0]
		status := fmt.Sprint("s", 2*rng.IntN(4)) // even levels are yes
		if y == "no" {
			status = fmt.Sprint("s", 2*rng.IntN(4)+1)
		}
		curve := fmt.Sprint(math.Exp(float64(i) / 100)) // not linear in time
		if rng.IntN(3) == 0 {
			curve = ""
		}
		half := i < 1400
		if rng.IntN(200) == 0 {
			half = !half
		}
		fmt.Fprintf(&b, "%d,%s,%.4f,%s,%d,%s,%v,%s,%s,%s,p%d,%.3f\n", i/100, y, rng.NormFloat64(), curve, 2020+i/1000,
			fmt.Sprint("m", i/250*7%12), half, fmt.Sprint("h", rng.IntN(2)), map[string]string{"yes": "1", "no": "0"}[y], status,
			rng.IntN(9), math.Sin(float64(i)/200)+rng.NormFloat64()/10)
	}
	q := Request{Source: Source{File: demand.CSV(t, b.String()), Time: "t", Label: "y"}, Fit: crossfit.ForTest(150)}
	q.Fit.Permutations = LeastPermutations
	p, err := q.Open("")
	demand.NoError(t, err)
	if notes := p.About.Leaks; len(notes) != 2 || !strings.HasPrefix(notes[0], "curve, year, month and since follow the time almost") ||
		!strings.HasPrefix(notes[1], "copy and status tell the label") {
		t.Errorf("%q", notes)
	}
	for _, c := range []struct {
		rule bool
		want string
	}{
		{false, "No drift is found in x or y (smallest p = 0.500); whether y given x drifts cannot be seen, as curve, year, month " +
			"and since follow the time and copy and status tell the label"},
		{true, "The table drifts in y given x (p = 0.500); no drift is found in x or y"},
	} {
		f := Finding{Questions: []Question{{Name: InX, P: .5}, {Name: InY, P: .5}, {Name: InRule, P: .5, Drift: c.rule}}}
		if got := f.sentence(p.Tested.hidden); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestWeakNote: the note on weak tests blames the dependence of rows only where there is some.
func TestWeakNote(t *testing.T) {
	for _, f := range []struct {
		Finding
		want string
	}{{Finding{Chunks: 13, Dependence: 1}, "few rows"}, {Finding{Chunks: 5, Dependence: 40}, "rows depend on"}} {
		if notes := strings.Join(f.notes(), "; "); !strings.Contains(notes, f.want) {
			t.Errorf("%d stretches, autocorrelation time %g: %s", f.Chunks, f.Dependence, notes)
		}
	}
}
