package export

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/figures"
	"tvps/replicate/runs"
)

// Difference is the difference of the two sides of a group in one metric. Rows are paired by seed and step, and within
// a step in their order. The seed is the unit: values are first averaged over the paired rows of each seed.
type Difference struct {
	Metric    string   `json:"metric"`
	MeanA     float64  `json:"mean_a"`
	MeanB     float64  `json:"mean_b"`
	Mean      float64  `json:"difference"` // B minus A
	Low       *float64 `json:"low"`        // 95% interval of Student's t over seeds; nil with fewer than two
	High      *float64 `json:"high"`
	Seeds     int      `json:"seeds"`     // seeds with a pair
	Steps     int      `json:"steps"`     // steps with a pair, of any seed
	Rows      int      `json:"rows"`      // pairs
	Identical int      `json:"identical"` // pairs with the same bits
	Unpaired  int      `json:"unpaired"`  // rows at common steps without a partner
	Largest   Largest  `json:"largest"`
}

// Largest is the pair of rows with the largest absolute difference, the first one by seed and step.
type Largest struct {
	Absolute float64 `json:"absolute"` // 0 if all pairs are equal
	Seed     int64   `json:"seed"`
	T        int     `json:"t"`
}

// measure reads the pairs of a group, one after the other, and fills in its metrics. Pairs with an unreadable or
// damaged file are left out.
func (g *Group) measure(ctx context.Context, storeA, storeB *runs.Store) (problems []error, err error) {
	tallies := map[string]*tally{}
	g.Metrics = []Difference{}
	for _, p := range g.pairs {
		if ctx.Err() != nil {
			return problems, fmt.Errorf("interrupted: %w", ctx.Err())
		}
		a, errA := storeA.Read(p.a)
		b, errB := storeB.Read(p.b)
		if errA != nil || errB != nil {
			problems = append(problems, slices.DeleteFunc([]error{errA, errB}, func(err error) bool { return err == nil })...)
			continue
		}
		g.compare(a, b, tallies)
	}
	for _, metric := range slices.Sorted(maps.Keys(tallies)) {
		g.Metrics = append(g.Metrics, tallies[metric].difference(metric))
	}
	return problems, nil
}

// tally collects the pairs of rows of one metric.
type tally struct {
	a, b, change []float64 // means of each seed; change is B minus A
	steps        map[int]bool
	rows         int
	identical    int
	unpaired     int
	largest      Largest
}

// place is where a row stands in its run: the n-th of its metric at step t.
type place struct{ t, n int }

// compare adds a pair of runs.
func (g *Group) compare(a, b *runs.Result, tallies map[string]*tally) {
	g.Seeds = append(g.Seeds, a.Spec.Seed)
	common := map[int]bool{}
	for _, t := range a.Steps {
		common[t] = slices.Contains(b.Steps, t)
		if !common[t] {
			g.StepsOnlyA++
		}
	}
	for _, t := range b.Steps {
		if !common[t] {
			g.StepsOnlyB++
		}
	}
	valuesA, valuesB := byMetric(a.Rows, common), byMetric(b.Rows, common)
	metrics := slices.Concat(slices.Collect(maps.Keys(valuesA)), slices.Collect(maps.Keys(valuesB)))
	slices.Sort(metrics)
	for _, metric := range slices.Compact(metrics) {
		if tallies[metric] == nil {
			tallies[metric] = &tally{steps: map[int]bool{}}
		}
		tallies[metric].add(a.Spec.Seed, valuesA[metric], valuesB[metric])
	}
}

// byMetric returns the values of each metric at the steps of both sides.
func byMetric(rows []runs.Row, common map[int]bool) map[string]map[place]float64 {
	out, count := map[string]map[place]float64{}, map[runs.Row]int{}
	for _, row := range rows {
		if !common[row.T] {
			continue
		}
		if out[row.Metric] == nil {
			out[row.Metric] = map[place]float64{}
		}
		same := runs.Row{T: row.T, Metric: row.Metric}
		out[row.Metric][place{row.T, count[same]}] = row.Value
		count[same]++
	}
	return out
}

// add adds the rows of one seed.
func (t *tally) add(seed int64, a, b map[place]float64) {
	var sumA, sumB, sumChange float64
	n := 0
	places := slices.SortedFunc(maps.Keys(a), func(p,
		q place) int {
		return cmp.Or(cmp.Compare(p.t, q.t), cmp.Compare(p.n, q.n))
	})
	for _, at := range places {
		x := a[at]
		y, ok := b[at]
		if !ok {
			continue
		}
		n++
		sumA, sumB, sumChange = sumA+x, sumB+y, sumChange+(y-x)
		t.steps[at.t] = true
		if math.Float64bits(x) == math.Float64bits(y) {
			t.identical++
		}
		if size := math.Abs(y - x); size > t.largest.Absolute {
			t.largest = Largest{size, seed, at.t}
		}
	}
	t.rows += n
	t.unpaired += len(a) + len(b) - 2*n
	if n > 0 {
		t.a, t.b, t.change = append(t.a, sumA/float64(n)), append(t.b, sumB/float64(n)),
			append(t.change, sumChange/float64(n))
	}
}

// difference returns the statistics over seeds.
func (t *tally) difference(metric string) Difference {
	change := figures.MeanInterval(t.change)
	out := Difference{
		Metric: metric, MeanA: figures.MeanInterval(t.a).Mean, MeanB: figures.MeanInterval(t.b).Mean, Mean: change.Mean,
		Seeds: change.N, Steps: len(t.steps), Rows: t.rows, Identical: t.identical, Unpaired: t.unpaired, Largest: t.largest,
	}
	if change.N > 1 {
		out.Low, out.High = &change.Low, &change.High
	}
	return out
}
