package drift

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Bounds of the work, whatever the size of the table.
const (
	columnRows  = 3000 // whose columns are permuted
	mostColumns = 200  // that are permuted
)

// Columns says how much log omega at the present depends on each column. All features of a column are permuted among
// the rows, which leaves its distribution as it is, and
//
//	change = mean_i (log omega_i with the column permuted - log omega_i)^2 / variance of log omega,
//
// where the mean is over rows of all times, and Share is the change divided by the sum of all changes. Columns that
// depend on each other share what they contribute. The networks of all folds are averaged.
type Columns struct {
	Spread float64        `json:"spread"` // standard deviation of log omega over the rows
	List   []Contribution `json:"list"`   // by falling share
}

// Contribution is that of one column.
type Contribution struct {
	Column string  `json:"column"`
	Label  bool    `json:"label,omitempty"` // it is the label
	Change float64 `json:"change"`
	Share  float64 `json:"share"`
}

// columns permutes each column.
func (m *measurement) columns() (*Columns, error) {
	kind := crossfit.Covariate
	if m.Data.HasY() {
		kind = crossfit.Joint
	}
	d := m.Data.Rows(tables.Thin(xslices.Iota(0, len(m.Data.Time)), columnRows))
	logs := func(d crossfit.Table) ([]float64, error) {
		w, err := m.g.WeightsOf(m.ctx, d, m.Blocks[len(m.Blocks)-1].Last,
			crossfit.WeightOptions{Kind: kind, AllFolds: true}) // as a permuted row equals no fitted one
		if err != nil {
			return nil, err
		}
		return w.LogOmega, nil
	}
	base, err := logs(d)
	if err != nil {
		return nil, err
	}
	variance := stat.Variance(base, nil)
	out := &Columns{Spread: math.Sqrt(variance)}
	of, n, chosen := m.Encoder.Of(), len(d.Time), m.finding.Strongest
	if len(chosen) > mostColumns {
		m.notes = append(m.notes, fmt.Sprintf("of %d columns the %d that drift most by themselves were permuted", len(chosen),
			mostColumns))
		chosen = chosen[:mostColumns:mostColumns]
	}
	if m.Data.HasY() {
		chosen = append(chosen, -1) // the label
	}
	for _, column := range chosen {
		changed, c := d, Contribution{Column: m.q.Label, Label: true}
		if column < 0 {
			y := d.Rows(random.New(m.q.Seed, "drift", "label").Perm(n))
			changed.Label, changed.Target = y.Label, y.Target
		} else {
			c = Contribution{Column: m.Encoder.Columns[column].Name}
			perm := random.New(m.q.Seed, "drift", "column", c.Column).Perm(n)
			changed.X = slices.Clone(d.X)
			for j := range of {
				for i := 0; of[j] == column && i < n; i++ {
					changed.X[i*d.Dim+j] = d.X[perm[i]*d.Dim+j]
				}
			}
		}
		after, err := logs(changed)
		if err != nil {
			return nil, err
		}
		if c.Change = math.Pow(floats.Distance(after, base, 2), 2) / float64(n); variance > 0 {
			c.Change /= variance
		}
		out.List = append(out.List, c)
	}
	sum := 0.
	for _, c := range out.List {
		sum += c.Change
	}
	for i := range out.List {
		if sum > 0 {
			out.List[i].Share = out.List[i].Change / sum
		}
	}
	slices.SortStableFunc(out.List, func(a, b Contribution) int { return cmp.Compare(b.Share, a.Share) })
	return out, nil
}

// Title is the column's name; that of the label is marked.
func (c Contribution) Title() string {
	if c.Label {
		return c.Column + " (label)"
	}
	return c.Column
}
