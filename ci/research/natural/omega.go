package natural

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

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

var knows = property{"g knows", func(l *Losses) float64 { return stat.Mean(l.knowledge(), nil) }}

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
func (l *Losses) knowledge() []float64 {
	return xslices.Map(l.Extra[heldOut], func(loss float64) float64 { return math.Ln2 - loss })
}

// gain is the loss of tuned forgetting minus that of a rule, relative to the former.
func (l *Losses) gain(rule string) statistics.Estimate {
	d := l.Against(rule, backtest.Forgetting)
	return statistics.Estimate{Mean: -d.Mean, Low: -d.High, High: -d.Low}
}

// gainWith is the rank correlation over tables of a property with the gain of a rule.
func gainWith(p property, rule string, all []*Losses, level float64) statistics.Estimate {
	values, gains := xslices.Map(all, p.of), xslices.Map(all, func(l *Losses) float64 { return l.gain(rule).Mean })
	return ofRankCorrelation(rankCorrelation(values, gains), len(all))(level)
}

// whereOmega says where omega helps, and whether a property tells it beforehand, by what the document declares.
func whereOmega(all []*Losses) string {
	text := "\n## What each rule gains\n\n" + gains(all) + "\n## What is known beforehand\n" + known(all)
	if len(all) < leastTables {
		return text + fmt.Sprintf("With fewer than %d tables nothing is said of properties.\n", leastTables)
	}
	return text + "## Does a property tell where omega helps?\n\n" + correlations(all) +
		"## Does the loss of g tell it?\n\n" + judgeG(all)
}

// gains has the gain of each rule that is compared on each table, and names those with omega that help.
func gains(all []*Losses) string {
	rows, helps := [][]string{append(row("table"), omegas...)}, []string{}
	for _, l := range all {
		cells := row(l.Table.Name)
		for _, rule := range omegas {
			cells = append(cells, relative(l.gain(rule)))
		}
		rows = append(rows, cells)
		for _, rule := range l.Rules {
			if hasOmega(rule) && l.gain(rule).Low > 0 {
				helps = append(helps, l.Table.Name+" ("+rule+")")
			}
		}
	}
	return "Gain against tuned forgetting, with its interval: above 0 is better.\n" + markdown(rows) +
		"Of all rules with omega, better (95% interval) are: " + cmp.Or(strings.Join(helps, ", "), "none") + ".\n"
}

// known has the properties of each table, what g knows, and what drift finds.
func known(all []*Losses) string {
	rows := [][]string{row("table", "`drift` finds")}
	for _, l := range all {
		first, _, _ := strings.Cut(l.Drift.Sentence, ";")
		_, finds, _ := strings.Cut(first, "The table drifts in ")
		rows = append(rows, row(l.Table.Name, cmp.Or(finds, "none")))
	}
	for _, p := range append(slices.Clone(properties), knows) {
		rows[0] = append(rows[0], p.name)
		for i, l := range all {
			rows[1+i] = append(rows[1+i], fmt.Sprintf("%.3g", p.of(l)))
		}
	}
	return markdown(rows)
}

// correlations asks of each property whether the gains follow it over tables.
func correlations(all []*Losses) string {
	rows, tells := [][]string{append(row("property"), omegas...)}, []string{}
	for _, p := range properties {
		cells := row(p.name)
		for i, rule := range omegas {
			c := gainWith(p, rule, all, []float64{.99, .95}[min(i, 1)])
			cells = append(cells, c.Text(2))
			if i == 0 && c.Low*c.High > 0 {
				tells = append(tells, p.name)
			}
		}
		rows = append(rows, cells)
	}
	verdict := "No property is found that tells where omega helps."
	if len(tells) > 0 {
		verdict = "Found: " + strings.Join(tells, ", ") + "."
	}
	return verdict + " Rank correlation of the gain with each property, over tables; 99% intervals for the first rule, which " +
		"decides, otherwise 95%:\n" + markdown(rows)
}

// judgeG asks whether omega gains more where g knows more of time: over tables, and over the test blocks of each.
func judgeG(all []*Losses) string {
	const joint = "joint-forgetting"
	var within []float64
	for _, l := range all {
		gains := slices.Clone(l.Of(backtest.Forgetting))
		floats.Sub(gains, l.Of(joint))
		if r := rankCorrelation(l.knowledge(), gains); !math.IsNaN(r) {
			within = append(within, r)
		}
	}
	over := gainWith(knows, joint, all, .95)
	blocks, verdict := statistics.MeanInterval(within), "does not judge g"
	if blocks.Low > 0 {
		verdict = "judges g"
	}
	return fmt.Sprintf("Held-out loss %s. Rank correlation of what g knows of time with the gain of %s: over tables %s (95%%); over "+
		"the test blocks of a table, mean of %d tables, %s.\n", verdict, joint, over.Text(2), len(within),
		blocks.Text(2))
}
