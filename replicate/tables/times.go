package tables

import (
	"cmp"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"
)

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
}

// Test is one comparison of two stretches.
type Test struct {
	In       string  `json:"in"`      // InX, InY or InBoth
	Stretch  int     `json:"stretch"` // in Stretches
	Against  string  `json:"against"` // Before or Present
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

// overTime makes the tests.
func (m *measurement) overTime(progress func(share float64)) error {
	k, err := newKernels(m.ctx, m.backend, m.data)
	if err != nil {
		return err
	}
	defer k.close()
	t, parts, merged := m.stretches()
	if merged > 1 {
		m.note("the tests over time compare stretches of %d blocks, since rows depend on their neighbours", merged)
	}
	for i, part := range parts {
		progress(float64(i) / float64(len(parts)))
		for _, other := range []struct {
			at   int
			name string
		}{{i - 1, Before}, {len(parts) - 1, Present}} {
			if other.at < 0 || other.at == i || min(len(part.row), len(parts[other.at].row)) < leastTested {
				continue
			}
			found, err := k.compare(parts[min(i, other.at)], parts[max(i, other.at)], m.q.Seed)
			if err != nil {
				return err
			}
			for _, test := range found {
				test.Stretch, test.Against = i, other.name
				t.List = append(t.List, test)
			}
		}
	}
	benjaminiHochberg(t.List)
	m.Tests = t
	return nil
}

// part is what is tested of a stretch.
type part struct {
	row   []int // in time order
	chunk []int // by place in row
	count int   // of chunks
}

// stretches merges blocks until a typical stretch has leastChunks chunks, and returns the number of blocks of one.
func (m *measurement) stretches() (*Tests, []part, int) {
	n := len(m.Blocks)
	for per := 1; ; per *= 2 {
		t := &Tests{}
		var parts []part
		for to := n; to > 0; to -= per {
			from := to - per
			if from < per {
				from = 0
			}
			row := between(m.of, from, to)
			p := part{row: thin(row, testRows)}
			p.cut(len(row), m.Finding.Dependence)
			t.Stretches = append(t.Stretches, Stretch{Name: m.Blocks[from].Name, Rows: len(p.row), Chunks: p.count, from: from})
			parts = append(parts, p)
			if from == 0 {
				break
			}
		}
		slices.Reverse(t.Stretches)
		slices.Reverse(parts)
		if t.typicalChunks() >= leastChunks || n/(2*per) < leastStretch {
			return t, parts, per
		}
	}
}

// between lists the rows of blocks from..to-1. of: ascending.
func between(of []int, from, to int) []int {
	first, _ := slices.BinarySearch(of, from)
	last, _ := slices.BinarySearch(of, to)
	return crossfit.Positions(last)[first:]
}

// typicalChunks is the median number of chunks.
func (t *Tests) typicalChunks() int {
	counts := collect(t.Stretches, func(s Stretch) int { return s.Chunks })
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// cut deals the rows, which stand for so many in the table, to chunks.
func (p *part) cut(rows int, dependence float64) {
	n := len(p.row)
	length := max(1, chunkTimes*(dependence*float64(n)/float64(rows)-1))
	p.count = max(2, min(mostChunks, int(float64(n)/length)))
	p.chunk = collect(crossfit.Positions(n), func(i int) int { return i * p.count / n })
}

// compare tests one stretch against another.
func (k *kernels) compare(a, b part, seed int64) ([]Test, error) {
	rows := slices.Concat(a.row, b.row)
	kernel, err := k.gram(rows)
	if err != nil {
		return nil, err
	}
	chunk := slices.Clone(a.chunk)
	for _, c := range b.chunk {
		chunk = append(chunk, a.count+c)
	}
	var out []Test
	for i, at := range kernel {
		s := newSplit(at, chunk, a.count, b.count)
		test := Test{In: subjects[i], MMD2: s.mmd2()}
		test.P = s.p(random.New(seed, "drift", "test", test.In, a.row[0], b.row[0]))
		out = append(out, test)
	}
	return out, nil
}

// benjaminiHochberg fills in the adjusted p-values, min over larger p of p n / rank, and whether they are at most
// level.
func benjaminiHochberg(tests []Test) {
	order := crossfit.Positions(len(tests))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(tests[a].P, tests[b].P) })
	least := 1.
	for rank := len(order); rank > 0; rank-- {
		t := &tests[order[rank-1]]
		least = min(least, t.P*float64(len(order))/float64(rank))
		t.Adjusted, t.Drift = least, least <= level
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
