package drift

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// measurement is what a Result is computed from.
type measurement struct {
	*tables.Sample
	q       tables.Request
	ctx     context.Context
	finding *tables.Finding
	g       *crossfit.Fitted
	notes   []string
}

// Tests are two-sample tests over time: of each stretch of blocks against the one before it, and against the last one,
// the present, in x, in y and in both.
//
// The statistic is the unbiased squared maximum mean discrepancy (package mmd) with the product of a Gaussian kernel
// of x and one of y, whose widths are the root mean squared distances of two rows. Each stretch is cut into
// contiguous chunks; pairs of rows of one chunk are left out, and a shuffle deals whole chunks to the two stretches,
// since rows that depend on their neighbours are not exchangeable. Chunks have at least chunkTimes times as many
// rows as the autocorrelation time less one; where a stretch then has few chunks, neighbouring stretches are merged.
//
// The p-values are corrected together by the step-up procedure of Benjamini and Hochberg: a reader looks through many
// tests for places of change, so the share of false ones among them is what should be small. If nothing drifts, the
// probability of any is at most level, as with Holm's correction.
type Tests struct {
	Stretches []Stretch `json:"stretches"`
	List      []Test    `json:"list"`
}

// Stretch is one or several neighbouring blocks.
type Stretch struct {
	Name   string `json:"name"` // of its first block
	Rows   int    `json:"rows"` // that were tested
	Chunks int    `json:"chunks"`
	from   int    // its first block
	row    []int  // in time order
	chunk  []int  // of each row
}

// Test is one comparison of two stretches.
type Test struct {
	In       string  `json:"in"`      // tables.InX, tables.InY or tables.InBoth
	Stretch  int     `json:"stretch"` // in Stretches
	Against  string  `json:"against"` // before or present
	MMD2     float64 `json:"mmd2"`
	P        float64 `json:"p"`
	Adjusted float64 `json:"p-adjusted"`
	Drift    bool    `json:"drift"`
}

// What a stretch is compared with.
const (
	Before  = "before"
	Present = "present"
)

// Bounds of the work, whatever the size of the table.
const (
	testRows     = 250  // of a stretch in a test over time
	shuffles     = 9999 // of a test over time
	leastTested  = 4    // rows of a stretch in a test over time
	mostChunks   = 10   // of a stretch in a test over time
	leastChunks  = 8    // of a typical stretch; otherwise stretches are merged
	leastStretch = 3    // stretches that are not merged further
	chunkTimes   = 6    // autocorrelation times of a chunk
)

// overTime makes the tests; none where stretches have different entities, as it would be these that are compared.
func (m *measurement) overTime() (*Tests, error) {
	k := newKernels(m.Data)
	t, merged := &Tests{}, 0
	t.Stretches, merged = m.stretches()
	if !m.sameEntities(t.Stretches) {
		m.notes = append(m.notes, "stretches of time have different entities (--group), so they are not compared with each other")
		return &Tests{Stretches: []Stretch{}, List: []Test{}}, nil
	}
	if merged > 1 {
		m.notes = append(m.notes, fmt.Sprintf(
			"the tests over time compare stretches of %d blocks, since rows depend on their neighbours", merged))
	}
	last := len(t.Stretches) - 1
	for i, a := range t.Stretches {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		for _, other := range []struct {
			at   int
			name string
		}{{i - 1, Before}, {last, Present}} {
			if other.at < 0 || other.at == i || min(a.Rows, t.Stretches[other.at].Rows) < leastTested {
				continue
			}
			for _, test := range k.compare(t.Stretches[min(i, other.at)], t.Stretches[max(i, other.at)], m.q.Seed) {
				test.Stretch, test.Against = i, other.name
				t.List = append(t.List, test)
			}
		}
	}
	correct(t.List)
	return t, nil
}

// stretches merges blocks until a typical stretch has leastChunks chunks, and returns the number of blocks of one.
func (m *measurement) stretches() ([]Stretch, int) {
	n := len(m.Blocks)
	for per := 1; ; per *= 2 {
		var list []Stretch
		for from, to := 0, n; to > 0; to = from {
			if from = to - per; from < per {
				from = 0
			}
			list = append(list, m.stretch(from, to))
		}
		slices.Reverse(list)
		counts := xslices.Map(list, func(s Stretch) int { return s.Chunks })
		slices.Sort(counts)
		if counts[len(counts)/2] >= leastChunks || n/(2*per) < leastStretch {
			return list, per
		}
	}
}

// stretch has the rows of blocks from..to-1 that are tested, in chunks.
func (m *measurement) stretch(from, to int) Stretch {
	all := between(m.Of, from, to)
	group := m.Data.Group
	if group != nil { // then neighbours are those of an entity
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(group[a], group[b]) })
	}
	s := Stretch{Name: m.Blocks[from].Name, from: from, row: tables.Thin(all, testRows)}
	s.Rows = len(s.row)
	of := loop.Pick(group, s.row)
	if entities := slices.Compact(slices.Clone(of)); len(entities) >= leastChunks { // whole ones, which are independent
		s.Chunks = min(mostChunks, len(entities))
		s.chunk = xslices.Map(of, func(e int32) int { return slices.Index(entities, e) * s.Chunks / len(entities) })
		return s
	}
	length := max(1, chunkTimes*(m.finding.Dependence*float64(s.Rows)/float64(len(all))-1))
	s.Chunks = max(2, min(mostChunks, int(float64(s.Rows)/length)))
	s.chunk = xslices.Map(xslices.Iota(0, s.Rows), func(i int) int { return i * s.Chunks / s.Rows })
	return s
}

// sameEntities tells whether each stretch has all entities that occur.
func (m *measurement) sameEntities(stretches []Stretch) bool {
	if m.Data.Group == nil {
		return true
	}
	entities := func(rows []int) []int32 {
		of := loop.Pick(m.Data.Group, rows)
		slices.Sort(of)
		return slices.Compact(of)
	}
	all, to := len(entities(between(m.Of, 0, len(m.Blocks)))), len(m.Blocks)
	for _, s := range slices.Backward(stretches) {
		if len(entities(between(m.Of, s.from, to))) < all {
			return false
		}
		to = s.from
	}
	return true
}

// between lists the rows of blocks from..to-1. of: ascending.
func between(of []int, from, to int) []int {
	first, _ := slices.BinarySearch(of, from)
	last, _ := slices.BinarySearch(of, to)
	return xslices.Iota(first, last-first)
}

// compare tests one stretch against another.
func (k kernels) compare(a, b Stretch, seed int64) []Test {
	kernel := k.gram(slices.Concat(a.row, b.row))
	chunk := slices.Concat(a.chunk, xslices.Map(b.chunk, func(c int) int { return a.Chunks + c }))
	var out []Test
	for i, at := range kernel {
		s := newSplit(at, chunk, a.Chunks, b.Chunks)
		test := Test{In: subjects[i], MMD2: s.mmd2()}
		test.P = s.p(random.New(seed, "drift", "test", test.In, a.row[0], b.row[0]))
		out = append(out, test)
	}
	return out
}

// correct fills in the adjusted p-values, and whether they are at most tables.Level.
func correct(tests []Test) {
	p := xslices.Map(tests, func(t Test) float64 { return t.P })
	for i, adjusted := range statistics.BenjaminiHochberg(p) {
		tests[i].Adjusted, tests[i].Drift = adjusted, adjusted <= tables.Level
	}
}

// when names the strongest change of a subject, or of any if it is empty: against the stretch before it if one is
// found, otherwise against the present, which is slow drift. nil: no test found any.
func (t *Tests) when(in string) *Test {
	var strongest *Test
	for i := range t.List {
		test := &t.List[i]
		if test.Drift && (in == "" || test.In == in) && (strongest == nil || test.Against == strongest.Against &&
			test.MMD2 > strongest.MMD2 || test.Against == Before && strongest.Against == Present) {
			strongest = test
		}
	}
	return strongest
}

// kernels computes the kernels of its sides, x and, if there is one, y, and of both.
type kernels []kernelSide

type kernelSide struct {
	samples []float32
	dim     int
}

// subjects are what is tested over time, in the order of kernels.gram.
var subjects = []string{tables.InX, tables.InY, tables.InBoth}

func newKernels(d crossfit.Table) kernels {
	d = d.Joined()
	k := kernels{{scaled(d.X, d.Dim), d.Dim}}
	switch {
	case d.Target != nil:
		y := xslices.Map(d.Target, func(v float64) float32 { return float32(v) })
		k = append(k, kernelSide{scaled(y, 1), 1})
	case d.Label != nil:
		one := make([]float32, len(d.Label)*d.Classes)
		for i, y := range d.Label {
			one[i*d.Classes+int(y)] = 1
		}
		k = append(k, kernelSide{scaled(one, d.Classes), d.Classes})
	}
	return k
}

// scaled divides samples by the root mean squared distance of two of them, and subtracts their mean.
func scaled(samples []float32, dim int) []float32 {
	mean, square := make([]float64, dim), 0.
	n := float64(len(samples) / dim)
	for i, v := range samples {
		mean[i%dim] += float64(v) / n
	}
	for i, v := range samples {
		e := float64(v) - mean[i%dim]
		square += e * e / n
	}
	out := make([]float32, len(samples))
	if square > 0 {
		for i, v := range samples {
			out[i] = float32((float64(v) - mean[i%dim]) / math.Sqrt(2*square))
		}
	}
	return out
}

// gram returns the Gaussian kernel of rows a > b of a pool, by subject; its width is 1, the root mean squared distance
// of two rows.
func (k kernels) gram(rows []int) (of []func(a, b int) float64) {
	for _, s := range k {
		n := len(rows)
		x := blas32.General{Rows: n, Cols: s.dim, Stride: s.dim, Data: make([]float32, 0, n*s.dim)}
		square := make([]float32, n)
		for i, r := range rows {
			row := s.samples[r*s.dim : (r+1)*s.dim]
			x.Data = append(x.Data, row...)
			for _, v := range row {
				square[i] += v * v
			}
		}
		product := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, x, 0, product)
		value := make([]float64, n*n)
		for a := range n {
			for b := range a {
				value[a*n+b] = math.Exp(-max(0, float64(square[a]+square[b]-2*product.Data[a*n+b])) / 2)
			}
		}
		of = append(of, func(a, b int) float64 { return value[a*n+b] })
	}
	if len(of) > 1 {
		of = append(of, func(a, b int) float64 { return of[0](a, b) * of[1](a, b) })
	}
	return of
}

// split holds the mean kernel between the chunks of two stretches, and which of them are dealt to the first.
type split struct {
	mean [][]float64
	n, m int   // numbers of chunks
	deal []int // the first n chunks make up one stretch, the others the other
}

func newSplit(at func(a, b int) float64, chunk []int, n, m int) *split {
	s := &split{n: n, m: m, mean: make([][]float64, n+m), deal: make([]int, n+m)}
	sizes := make([]float64, n+m)
	for _, c := range chunk {
		sizes[c]++
	}
	for c := range s.mean {
		s.mean[c], s.deal[c] = make([]float64, n+m), c
	}
	for i, c := range chunk {
		for j := range i {
			v := at(i, j) / (sizes[c] * sizes[chunk[j]])
			s.mean[c][chunk[j]] += v
			if c != chunk[j] {
				s.mean[chunk[j]][c] += v
			}
		}
	}
	return s
}

// mmd2 is the unbiased estimate of the squared maximum mean discrepancy over pairs of different chunks.
func (s *split) mmd2() float64 {
	first, second, between := s.deal[:s.n], s.deal[s.n:], 0.
	for _, a := range second {
		for _, b := range first {
			between += s.mean[a][b]
		}
	}
	return s.within(first) + s.within(second) - 2*between/float64(s.n*s.m)
}

// within is the mean over pairs of different chunks.
func (s *split) within(chunks []int) (mean float64) {
	pairs := float64(len(chunks)*(len(chunks)-1)) / 2
	for i, a := range chunks {
		for _, b := range chunks[:i] {
			mean += s.mean[a][b]
		}
	}
	return mean / pairs
}

// p is (1 + shuffles whose statistic is at least the real one) / (1 + shuffles). After 100 such shuffles no more are
// made, which leaves the p-value valid (Besag and Clifford 1991).
func (s *split) p(rng *rand.Rand) float64 {
	real := s.mmd2()
	tie := 1e-12 * (math.Abs(real) + 1)
	large := 0
	for i := 1; i <= shuffles; i++ {
		rng.Shuffle(len(s.deal), func(a, b int) { s.deal[a], s.deal[b] = s.deal[b], s.deal[a] })
		if s.mmd2() >= real-tie {
			if large++; large == 100 {
				return float64(large) / float64(i)
			}
		}
	}
	return float64(1+large) / float64(1+shuffles)
}
