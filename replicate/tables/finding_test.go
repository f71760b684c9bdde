package tables

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
)

// TestUnseen: weights say that g missed the drift of what they follow: x for covariate weights, (x, y) for joint ones.
func TestUnseen(t *testing.T) {
	for _, test := range []struct {
		x, g, y, rule            float64 // p-values
		covariate, joint, ofRule bool    // a note is due
	}{
		{.004, .6, 1, .9, true, true, false},    // heavy tails
		{.004, .6, 1, .001, true, false, false}, // g with y sees something
		{.004, .01, 1, .9, false, false, false},
		{1, 1, .001, .9, false, true, false}, // the outcome alone
		{1, 1, 1, 1, false, false, false},
	} {
		f := Finding{Questions: []Question{
			{Name: InX, Drift: min(test.x, test.g) <= level, Tests: []QuestionTest{{P: test.x}, {P: test.g, Loss: .69}}},
			{Name: InY, Drift: test.y <= level, Tests: []QuestionTest{{P: test.y}}},
			{Name: InRule, Drift: test.rule <= level, Tests: []QuestionTest{{P: test.rule, Loss: .69}}}}}
		for kind, want := range map[crossfit.Kind]bool{crossfit.Covariate: test.covariate, crossfit.Joint: test.joint,
			crossfit.Conditional: test.ofRule} {
			if got := f.unseen(kind, false); len(got) > 0 != want {
				t.Errorf("%s weights, p %v: notes %q", kind, test, got)
			}
			drift := map[crossfit.Kind]bool{crossfit.Covariate: min(test.x, test.g) <= level, crossfit.Conditional: test.rule <= level,
				crossfit.Joint: min(test.x, test.g, test.y, test.rule) <= level}[kind]
			if got := f.unseen(kind, true); len(got) > 0 != drift {
				t.Errorf("flat %s weights, p %v: notes %q", kind, test, got)
			}
		}
	}
}

// TestNamedColumns: a column is named as drifting if its p-value, corrected as all are, is at most .05: not where the
// test of all columns finds nothing, and none by chance next to one that drifts.
func TestNamedColumns(t *testing.T) {
	for _, test := range []struct {
		first, second float64 // p-values of two columns
		want          string
	}{{.02, .03, ""}, {.001, .03, "a"}, {.001, .01, "b a"}} {
		f := &Finding{Questions: []Question{{Name: InX, Tests: []QuestionTest{{P: test.first}, {P: .8}}},
			{Name: InY, Tests: []QuestionTest{{P: .7}}}, {Name: InRule, Tests: []QuestionTest{{P: .9}}}}}
		f.correct()
		f.name(&crossfit.ColumnTest{P: test.first, Column: []float64{test.first, test.second}, Size: []float64{1, 2}},
			[]string{"a", "b"})
		if got := strings.Join(f.Columns, " "); got != test.want {
			t.Errorf("p %v and %v: columns %q, not %q", test.first, test.second, got, test.want)
		}
	}
}

// TestOneRule: drift and weights test the same rows with the same settings. Where nothing drifts, all weights are 1;
// one column of 20 that moves by half a standard deviation is found.
func TestOneRule(t *testing.T) {
	names := make([]string, 20)
	for j := range names {
		names[j] = fmt.Sprint("c", j)
	}
	for _, moves := range []float64{0, .5} { // standard deviations over the time
		file := write(t, strings.Join(names, ","), 40, 100, func(rng *rand.Rand, block int) ([]float64, string) {
			x := make([]float64, len(names))
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			x[7] += moves * float64(block) / 39
			return x, "0"
		})
		q := Request{Source: Source{File: file, Time: "block", Read: table.Options{Drop: []string{"y"}}}, Fit: quick(150)}
		q.Fit.Permutations = LeastPermutations
		a, err := PrepareDrift(q)
		demand.NoError(t, err)
		b, err := PrepareWeights(WeightsRequest{Request: q})
		if err != nil || !reflect.DeepEqual(a.tested, b.tested) || !reflect.DeepEqual(a.Request, b.Request) {
			t.Errorf("weights tests other rows than drift: %v", err)
		}
		w, err := b.Weigh(t.Context(), xla(t), nil)
		demand.NoError(t, err)
		w.Close()
		drift := w.Finding
		if !strings.HasPrefix(w.String(), drift.Sentence+".\n") || !strings.Contains(w.String(), "\nx: p ") {
			t.Errorf("the summary is %s", w)
		}
		if moves == 0 {
			if len(drift.drifting()) > 0 || w.Share != 1 || !w.Equal {
				t.Errorf("no drift: %s, effective share %v", drift.Sentence, w.Share)
			}
			for i, v := range w.weights.Weight {
				if v != 1 {
					t.Fatalf("row %d of a table without drift has weight %v", i, v)
				}
			}
			continue
		}
		if strings.Join(drift.drifting(), ", ") != InX || strings.Join(drift.Columns, " ") != "c7" {
			t.Errorf("one column moves: %+v", drift)
		}
	}
}

// TestFalseDrift counts the tables without drift in which any question is answered with yes.
func TestFalseDrift(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of minutes: TVPS_NIGHTLY=1 runs it")
	}
	const tables = 40
	fitter := crossfit.NewFitter(xla(t))
	defer fitter.Close()
	for _, phi := range []float64{0, .5, .9} {
		called, by := 0, map[string]int{}
		for seed := range int64(tables) {
			m := series(seed, 3000, 3, 30, phi, still)
			rng := random.New(seed, "label")
			m.data.Classes = 2
			for i := range m.of {
				m.data.Time[i], m.data.Order = float64(m.of[i]), append(m.data.Order, float64(i))
				y := int32(0)
				if float64(m.data.X[3*i])+rng.NormFloat64() > 0 {
					y = 1
				}
				m.data.Label = append(m.data.Label, y)
			}
			m.encoder = &table.Encoder{}
			f, err := m.find(t.Context(), fitter, Request{Fit: crossfit.DefaultConfig(), Seed: seed})
			demand.NoError(t, err)
			if len(f.drifting()) > 0 {
				called++
			}
			for _, q := range f.Questions {
				for _, test := range q.Tests {
					if test.P <= level {
						by[q.Name+" by "+test.By]++
					}
				}
			}
		}
		t.Logf("coefficient %.1f: drift called in %d of %d tables without drift: %v", phi, called, tables, by)
		if float64(called) > tables*level+3*math.Sqrt(tables*level*(1-level)) {
			t.Errorf("coefficient %.1f: drift is called in %d of %d tables without drift", phi, called, tables)
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
	q := Request{Source: Source{File: csv(t, b.String()), Time: "t", Label: "y"}, Fit: quick(150)}
	q.Fit.Permutations = LeastPermutations
	p, err := PrepareDrift(q)
	demand.NoError(t, err)
	if notes := p.Leaks(); len(notes) != 2 || !strings.HasPrefix(notes[0], "curve, year, month and since follow the time almost") ||
		!strings.HasPrefix(notes[1], "copy and status tell the label") {
		t.Errorf("%q", notes)
	}
	for _, c := range []struct {
		rule bool
		want string
	}{
		{false, "No drift is found in x or y (smallest p = .500); whether y given x drifts cannot be seen, as curve, year, month " +
			"and since follow the time and copy and status tell the label"},
		{true, "The table drifts in y given x (p = .500); no drift is found in x or y"},
	} {
		f := Finding{Questions: []Question{{Name: InX, P: .5}, {Name: InY, P: .5}, {Name: InRule, P: .5, Drift: c.rule}}}
		if got := f.sentence(p.tested.hidden); got != c.want {
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
