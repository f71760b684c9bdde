package backtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"gonum.org/v1/gonum/floats"
)

// TestWeights: windows, forgetting and omega multiply, the mean is 1, negligible rows have no weight.
func TestWeights(t *testing.T) {
	k := &Task{Step: 4, Known: 4, train: make([]int, 4), Block: []int{0, 1, 2, 3}, age: []float64{30, 20, 10, 0}}
	omega := []float64{1, .5, 1, .25}
	for _, c := range []struct {
		w    Weighting
		want []float64 // up to a factor
	}{
		{Weighting{}, []float64{1, 1, 1, 1}},
		{Weighting{Window: 2}, []float64{0, 0, 1, 1}},
		{Weighting{HalfLife: 10}, []float64{.125, .25, .5, 1}},
		{Weighting{Power: 1}, []float64{1. / 4, 1. / 3, 1. / 2, 1}},
		{Weighting{Kind: crossfit.Joint}, omega},
		{Weighting{Kind: crossfit.Joint, HalfLife: 10}, []float64{.125, .125, .5, .25}},
		{Weighting{HalfLife: 1}, []float64{0, math.Exp2(-20) * 0, math.Exp2(-10), 1}},
	} {
		var o []float64
		if c.w.Kind != "" {
			o = omega
		}
		got := k.weights(c.w, o)
		floats.Scale(4/floats.Sum(c.want), c.want)
		if !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("%s: weights %v, want %v", c.w, got, c.want)
		}
	}
}

// TestLabelDistribution: one more row of each class counts beside the rows that have weight, however many have none.
func TestLabelDistribution(t *testing.T) {
	for _, past := range []int{20, 40, 4000} {
		k := &Task{Known: past / 20, train: make([]int, past), Block: make([]int, past), age: make([]float64, past)}
		k.Data = crossfit.Table{Classes: 2, Label: make([]int32, past)}
		for i := range past {
			k.Block[i] = i / 20
			k.Data.Label[i] = int32(i % 2) // but for the last block, which has one class
			if i >= past-20 {
				k.Data.Label[i] = 0
			}
		}
		got := k.labelDistribution(k.weights(Weighting{Window: 1}, nil))
		if !floats.EqualApprox(got, []float64{21. / 22, 1. / 22}, 1e-9) {
			t.Errorf("of a past of %d rows the last 20, all of one class, predict %v", past, got)
		}
	}
}

// TestSample: a large past is sampled, all of its newest rows and each window of time with about as many rows as
// another, with weights that make up for it; g of a user's own trainer is fitted on the same rows.
func TestSample(t *testing.T) {
	const n, blocks = 100000, 50
	text := strings.Builder{}
	text.WriteString("t,x,y\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%d,%v\n", (i*31%n)*blocks/n, i%7, i%3 == 0)
	}
	file := demand.CSV(t, text.String())
	p, err := Prepare(Request{Model: "logistic",
		Request: tables.Request{Source: tables.Source{File: file, Time: "t", Label: "y"}, Fit: crossfit.ForTest(60)}})
	demand.NoError(t, err)
	if len(p.steps) != mostLarge || p.steps[mostLarge-1] != blocks-1 || len(p.About.Notes) != 2 {
		t.Errorf("test blocks %v, notes %v", p.steps, p.About.Notes)
	}
	s := p.Stream
	k, err := newTask(s, blocks-1, s.Times.Rows(0, blocks-1), s.Times.Rows(blocks-1, blocks), true, 0)
	demand.NoError(t, err)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > .05 {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	past := float64(n * (blocks - 1) / blocks)
	near("rows", float64(len(k.train)), mostPast)
	near("rows that they stand for", floats.Sum(k.Equal()), past)
	near("the last block", floats.Sum(k.weights(Weighting{Window: 1}, nil))/float64(len(k.train)), 1)
	counts := make([]float64, blocks)
	for i, at := range k.Block {
		counts[at] += k.Scale[i]
	}
	near("rows of the first 20 blocks", floats.Sum(counts[:20]), 20*n/blocks)
	near("rows of the newest block", counts[blocks-2], n/blocks)
	for _, w := range []Weighting{{}, {Window: 8}, {Window: 32}} {
		weight := k.weights(w, nil)
		sum := floats.Sum(weight)
		if size := sum * sum / floats.Dot(weight, weight); size < 9000 { // of 5,800 rows that are certain, twice as many
			t.Errorf("%s: the effective number of rows is %.0f", w, size)
		}
	}
	if slices.Max(k.train) >= n || slices.ContainsFunc(k.train, func(row int) bool { return s.Times.Index[row] >= blocks-1 }) {
		t.Error("a row of the test block, or a later one")
	}
	whole, err := newTask(s, blocks-1, s.Times.Rows(0, blocks-1), s.Times.Rows(blocks-1, blocks), false, 0)
	demand.NoError(t, err)
	g := whole.dataOfG()
	if len(whole.train) != int(past) || whole.Scale != nil || !slices.Equal(g.Time, k.Data.Time) ||
		!slices.Equal(g.Label, k.Data.Label) || len(g.X) != len(k.Data.X) {
		t.Errorf("a trainer gets %d rows, g %d", len(whole.train), len(g.Time))
	}
}

// TestAllRules: no half-life or window is longer than half of the blocks; each rule has its own kind.
func TestAllRules(t *testing.T) {
	rules := builtIn(20, 7)
	var names []string
	for _, r := range rules {
		if r.Extra {
			continue
		}
		names = append(names, r.Name)
		for _, w := range r.Weightings {
			if w.Kind != r.Kind || w.Window > 10 || w.HalfLife > 70 {
				t.Errorf("%s has weighting %+v", r.Name, w)
			}
		}
	}
	if want := append(Rules(false), "joint", "joint-forgetting", "covariate", "covariate-forgetting", "conditional",
		"conditional-forgetting"); !slices.Equal(names, want) {
		t.Errorf("rules %v, want %v", names, want)
	}
	rules = slices.DeleteFunc(rules, func(r Rule) bool { return r.Extra })
	demand.Equal(t, len(weightings(rules)), 1+1+3+4+3*(1+4), "weightings of 20 blocks")
}

// weekends is a table of 84 days, at whose weekends the rule from x to y turns round.
func weekends(t *testing.T) Request {
	t.Helper()
	text, rng := strings.Builder{}, random.New(1, "weekends")
	text.WriteString("date,x,y\n")
	for day := range 84 {
		date := time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC)
		weekend := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday
		for range 40 {
			x := rng.NormFloat64()
			fmt.Fprintf(&text, "%s,%.3f,%v\n", date.Format(time.DateOnly), x, (x+rng.NormFloat64()/2 > 0) != weekend)
		}
	}
	q := logisticOn(tables.Source{File: demand.CSV(t, text.String()), Time: "date", Label: "y"}, crossfit.Joint)
	q.Last, q.Fit = 21, crossfit.ForTest(150)
	return q
}

// TestSeason: days of the test block's phase predict it: the first day of a weekend is no weekday. So does omega for
// that phase. The rule takes part without being named, with a note.
func TestSeason(t *testing.T) {
	r := run(t, t.TempDir(), weekends(t))
	demand.Words(t, strings.Join(r.Notes, "\n"), "recurs in the table (day of the week)", Season)
	loss := func(rule string) float64 { return r.rule(rule).Scores[r.Metric] }
	for _, other := range []string{Uniform, Last, Forgetting} {
		if !(loss(Season) < loss(other)-.05) {
			t.Errorf("the loss of season is %.3f, that of %s %.3f", loss(Season), other, loss(other))
		}
	}
	if loss("joint") > loss(Uniform)-.1 {
		t.Errorf("the loss of omega is %.3f, that of equal weights %.3f", loss("joint"), loss(Uniform))
	}
}

// TestWhole: the label is the entity's, and a feature names it. Who has learned from the entity knows the label; who
// has not can do no better than the entropy of the labels. Folds share out the rows of each block.
func TestWhole(t *testing.T) {
	text, rng := strings.Builder{}, random.New(1, "entities")
	text.WriteString("week,shop,name,x,y\n")
	for week := range 16 {
		for shop := range 40 {
			text.WriteString(fmt.Sprintf("%d,s%02d,n%02d,%.3f,%v\n", week, shop, shop, rng.NormFloat64(), shop%4 == 0))
		}
	}
	q := logisticOn(tables.Source{File: demand.CSV(t, text.String()), Time: "week", Label: "y",
		Read: table.Options{Drop: []string{"shop"}}})
	q.Last = 8
	seen := run(t, t.TempDir(), q).rule(Uniform).Scores["log-loss"]
	q.Group, q.Read.Drop = "shop", nil
	whole := run(t, t.TempDir(), q).rule(Uniform).Scores["log-loss"]
	if share := .25; seen > .4 || whole < -share*math.Log(share)-(1-share)*math.Log(1-share) {
		t.Errorf("the loss is %.3f where the entity was seen, %.3f where it was not", seen, whole)
	}
	p, err := Prepare(q)
	demand.NoError(t, err)
	for _, step := range p.steps {
		var tested []int
		for fold := range p.folds {
			k, err := p.task(step, fold)
			demand.NoError(t, err)
			for _, row := range k.test {
				if slices.ContainsFunc(k.train, func(other int) bool { return p.Stream.Group[row] == p.Stream.Group[other] }) {
					t.Fatalf("block %d: row %d is predicted by who learned from its entity", step, row)
				}
			}
			tested = append(tested, k.test...)
		}
		if slices.Sort(tested); !slices.Equal(tested, p.Stream.Times.Rows(step, step+1)) {
			t.Errorf("block %d: rows %v are tested", step, tested)
		}
	}
}

// TestFewEntities: entities that are not in every block, of which the newest may be learned from in no fold, are no
// obstacle; a group of one entity is a mistake.
func TestFewEntities(t *testing.T) {
	for entities, want := range map[int]string{3: "", 1: "it has one value"} {
		file := demand.Table(t, "x,shop", 24, 30, func(rng *rand.Rand, block int) ([]float64, string) {
			x := rng.NormFloat64()
			return []float64{x, float64(block % entities)}, fmt.Sprint(x+rng.NormFloat64() > 0)
		})
		q := logisticOn(tables.Source{File: file, Time: "block", Label: "y", Group: "shop"}, crossfit.Joint)
		q.Rules = append(Rules(false), "power-law")
		p, err := Prepare(q)
		if want != "" {
			demand.Error(t, err, want)
			continue
		}
		demand.NoError(t, err)
		r, err := p.Run(t.Context(), host(t, t.TempDir()))
		demand.NoError(t, err)
		for _, rule := range r.Rules {
			if loss := rule.Scores[r.Metric]; !(loss > .3 && loss < 2) {
				t.Errorf("%s: loss %v", rule.Rule, loss)
			}
		}
	}
}

// TestChoose: a choice depends on earlier steps alone.
func TestChoose(t *testing.T) {
	r := Rule{Weightings: []Weighting{{HalfLife: 1}, {HalfLife: 2}, {}}}
	loss := map[float64][]float64{1: {3, 0, 0, 9}, 2: {2, 2, 0, 0}, 0: {1, 3, 3, 0}}
	p := &Past{Measure: "loss"}
	for step := range 4 {
		var rows []runs.Row
		for _, w := range r.Weightings {
			rows = append(rows, runs.Row{Metric: metric("loss", w.String()), Value: loss[w.HalfLife][step]})
		}
		p.add(rows, 1)
	}
	got := r.chosen(p)
	want := []Weighting{{}, {}, {HalfLife: 1}, {HalfLife: 1}, {HalfLife: 2}}
	demand.List(t, got, want, "chosen")
}

// TestPastBefore: a choice before a block uses the blocks whose losses are known by then, after the last block all.
func TestPastBefore(t *testing.T) {
	blocks, rows := make([]map[string]float64, 4), make([]float64, 4)
	late := &Past{Blocks: blocks, Rows: rows, known: []int{0, 0, 0, 1}}
	for n, want := range []int{0, 0, 0, 1, 4} {
		demand.Equal(t, len(late.before(n).Blocks), want, "blocks known before block %d", n)
		demand.Equal(t, len((&Past{Blocks: blocks, Rows: rows}).before(n).Blocks), n, "without a gap")
	}
}
