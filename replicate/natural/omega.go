package natural

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Drift is what the command drift says of a table.
type Drift struct {
	Sentence string
	// X and Rule are how much lower the held-out loss of g is than without drift, for x and for y given x.
	X, Rule float64
	// Periodicity is 1 minus the rank correlation of the blocks' times with their likeness to the last one, which is 0 if
	// they all are equally like it.
	Periodicity float64
}

func driftFile(folder string, t Table) string { return filepath.Join(folder, t.Name, "drift.json") }

// MeasureDrift writes the Drift of a table, with the default settings of the command, unless the folder has it.
func MeasureDrift(ctx context.Context, backend compute.Backend, t Table, folder string) error {
	path := driftFile(folder, t)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	q, err := Suites[0].Request(t, folder)
	if err != nil {
		return err
	}
	q.Fit = crossfit.DefaultConfig()
	job, err := tables.PrepareDrift(q.Request)
	if err != nil {
		return err
	}
	found, err := job.Measure(ctx, backend, nil)
	if err != nil {
		return err
	}
	d := Drift{Sentence: found.Finding.Sentence, Periodicity: 1}
	for _, question := range found.Finding.Questions {
		for _, test := range question.Tests {
			switch {
			case test.Loss != 0 && question.Name == tables.InX:
				d.X = test.Null - test.Loss
			case test.Loss != 0:
				d.Rule = test.Null - test.Loss
			}
		}
	}
	var times []float64
	for _, block := range found.Blocks {
		times = append(times, block.Value)
	}
	last := len(times) - 1
	for _, m := range found.Maps {
		if m.In == tables.InBoth {
			if r := rankCorrelation(times[:last], m.Worth[last][:last]); !math.IsNaN(r) {
				d.Periodicity = 1 - r
			}
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return artifact.Replace(path, append(text, '\n'), 0o644)
}

// readDrift reads what MeasureDrift wrote.
func readDrift(path string) (*Drift, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: compute it again", err)
	}
	d := &Drift{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: %w: compute it again", path, err)
	}
	return d, nil
}

// rankCorrelation is Spearman's.
func rankCorrelation(a, b []float64) float64 {
	x, _ := crossfit.MeanRanks(a)
	y, _ := crossfit.MeanRanks(b)
	return stat.Correlation(x, y, nil)
}

// fisher is the interval of a rank correlation of n pairs, with the variance of Bonett and Wright (2000).
func fisher(r float64, n int, level float64) tables.Interval {
	half := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt((1+r*r/2)/float64(n-3))
	return tables.Interval{Mean: r, Low: math.Tanh(math.Atanh(r) - half), High: math.Tanh(math.Atanh(r) + half)}
}

// property is what a user can know of a table before g is used for weights.
type property struct {
	name string
	of   func(l *Losses) float64
}

var properties = []property{
	{"drift of x", func(l *Losses) float64 { return l.Drift.X }},
	{"drift of y given x", func(l *Losses) float64 { return l.Drift.Rule }},
	{"rows per block", func(l *Losses) float64 { return median(l.Rows) }},
	{"periodicity", func(l *Losses) float64 { return l.Drift.Periodicity }},
	{"memory", func(l *Losses) float64 { return l.Extra[window][0] / l.Table.Season }},
}

// omegas are the rules with omega whose gains are compared; the first one decides.
var omegas = []string{"conditional-forgetting", "omega-age", "omega-x", "omega-y-given-x"}

// hasOmega tells whether a rule weights by omega.
func hasOmega(rule string) bool {
	kind, _, _ := strings.Cut(rule, "-")
	return kind == "omega" || slices.Contains(crossfit.Kinds(), crossfit.Kind(kind))
}

// leastTables is the number of tables below which nothing is said of properties.
const leastTables = 8

// knowledge is how much g, of x and y, knows of time in each test block: log 2 minus its held-out loss.
func (l *Losses) knowledge() (out []float64) {
	for _, v := range l.Extra[heldOut] {
		out = append(out, math.Ln2-v)
	}
	return out
}

// whereOmega says where omega helps, and whether a property tells it beforehand, by what the document declares.
func whereOmega(all []*Losses, suite string) string {
	found := Of(all, suite, drifting)
	var b strings.Builder
	fmt.Fprintf(&b, "### Where omega helps, %d tables\n\n", len(found))
	b.WriteString("Gain against tuned forgetting, with its interval, and what is known beforehand.\n\n")
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head := append([]string{"table"}, omegas...)
	for _, p := range properties {
		head = append(head, p.name)
	}
	row(append(head, "g knows", "`drift` finds")...)
	b.WriteString(strings.Repeat("|---", len(head)+2) + "|\n")
	gain := map[string][]float64{}
	values, known, within := make([][]float64, len(properties)), []float64{}, []float64{}
	const joint = "joint-forgetting"
	for i, l := range found {
		cells := []string{l.Table.Name}
		for _, rule := range append(slices.Clone(omegas), joint) {
			d := l.Against(rule, tables.Forgetting)
			gain[rule] = append(gain[rule], -d.Mean)
			if rule != joint {
				cells = append(cells, relative(tables.Interval{Mean: -d.Mean, Low: -d.High, High: -d.Low}))
			}
		}
		for k, p := range properties {
			values[k] = append(values[k], p.of(l))
			cells = append(cells, fmt.Sprintf("%.3g", values[k][i]))
		}
		known = append(known, stat.Mean(l.knowledge(), nil))
		finds, _, _ := strings.Cut(l.Drift.Sentence, ";")
		if of, some := strings.CutPrefix(finds, "The table drifts in "); some {
			finds = of
		} else {
			finds = "none"
		}
		row(append(cells, fmt.Sprintf("%.3f", known[i]), finds)...)
		var gains []float64
		for t, v := range l.of(tables.Forgetting) {
			gains = append(gains, v-l.of(joint)[t])
		}
		if r := rankCorrelation(l.knowledge(), gains); !math.IsNaN(r) {
			within = append(within, r)
		}
	}
	var helps []string
	for _, l := range found {
		for _, rule := range l.Rules {
			if hasOmega(rule) && l.Against(rule, tables.Forgetting).High < 0 {
				helps = append(helps, l.Table.Name+" ("+rule+")")
			}
		}
	}
	fmt.Fprintf(&b, "\nA rule with omega is better than tuned forgetting by an interval on: %s.\n",
		cmp.Or(strings.Join(helps, ", "), "none"))
	if len(found) < leastTables {
		fmt.Fprintf(&b, "\nWith fewer than %d tables nothing is said of properties.\n", leastTables)
		return b.String()
	}
	b.WriteString("\nRank correlation of the gain with each property, over tables: ")
	b.WriteString("99% intervals for the first rule, which decides, otherwise 95%.\n\n")
	row(append([]string{"property"}, omegas...)...)
	b.WriteString(strings.Repeat("|---", len(omegas)+1) + "|\n")
	correlation := func(v []float64, rule string, level float64) tables.Interval {
		return fisher(rankCorrelation(v, gain[rule]), len(found), level)
	}
	tells := []string{}
	for k, p := range properties {
		cells := []string{p.name}
		for i, rule := range omegas {
			c := correlation(values[k], rule, []float64{.99, .95}[min(i, 1)])
			cells = append(cells, decimals(c))
			if i == 0 && c.Low*c.High > 0 {
				tells = append(tells, p.name)
			}
		}
		row(cells...)
	}
	sentence := "No property is found that tells where omega helps."
	if len(tells) > 0 {
		sentence = "Found: " + strings.Join(tells, ", ") + "."
	}
	blocks := figures.MeanInterval(within)
	verdict := "does not judge g"
	if blocks.Low > 0 {
		verdict = "judges g"
	}
	fmt.Fprintf(&b, "\n%s\n\n%s\n", sentence, wrapped(fmt.Sprintf("What g knows of time, and the gain of %s: rank correlation over "+
		"tables %s (95%%); over the test blocks of a table, mean of %d tables, %s. So held-out loss %s.", joint,
		decimals(correlation(known, joint, .95)), len(within), decimals(tables.Interval{Mean: blocks.Mean, Low: blocks.Low, High: blocks.High}),
		verdict)))
	return b.String()
}

// decimals is an interval with two decimals.
func decimals(i tables.Interval) string {
	return fmt.Sprintf("%+.2f [%+.2f, %+.2f]", i.Mean, i.Low, i.High)
}
