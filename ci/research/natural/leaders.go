package natural

import (
	"cmp"
	"fmt"
	"slices"

	"tvps/replicate/tables/backtest"
)

// Leader is a rule over several tables.
type Leader struct {
	Rule   string
	Regret float64 // mean over tables
	Median float64 // of the regrets
	// Lowest counts the tables where it has the lowest loss; Won and Lost those where its interval against tuned
	// forgetting excludes 0.
	Lowest, Won, Lost int
}

func median[T int | float64](values []T) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (float64(sorted[n/2]) + float64(sorted[(n-1)/2])) / 2
}

// Leaders orders the rules that all tables have by their mean regret, the lowest first.
func Leaders(all []*Losses) (leaders []Leader) {
	if len(all) == 0 {
		return nil
	}
	n := float64(len(all))
	for _, rule := range all[0].Rules {
		if slices.ContainsFunc(all, func(l *Losses) bool { return l.Of(rule) == nil }) {
			continue
		}
		x := versus(all, rule, backtest.Forgetting)
		var regrets []float64
		for _, l := range all {
			regrets = append(regrets, l.Regret(rule))
			x.Regret += l.Regret(rule) / n
			if l.best() == rule {
				x.Lowest++
			}
		}
		x.Median = median(regrets)
		leaders = append(leaders, x)
	}
	slices.SortStableFunc(leaders, func(a, b Leader) int { return cmp.Compare(a.Regret, b.Regret) })
	return leaders
}

// versus counts the tables where the interval of the difference of a rule to another excludes 0.
func versus(all []*Losses, rule, other string) Leader {
	x := Leader{Rule: rule}
	for _, l := range all {
		d := l.Against(rule, other)
		if d.High < 0 {
			x.Won++
		}
		if d.Low > 0 {
			x.Lost++
		}
	}
	return x
}

// Of takes the losses of a suite on the tables that keep accepts.
func Of(all []*Losses, suite string, keep func(Dataset) bool) []*Losses {
	return slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool {
		return l.Suite.Name != suite || l.Table.Test || !keep(l.Table)
	})
}

// Tables that conclusions rest on: all that drift, those to choose by, those that are quoted, and those without drift.
var (
	Drifting = func(t Dataset) bool { return !t.Null }
	choosing = func(t Dataset) bool { return !t.Null && !t.Quoted() }
	quoting  = func(t Dataset) bool { return !t.Null && t.Quoted() }
	null     = func(t Dataset) bool { return t.Null }
)

func named(name string) func(Dataset) bool { return func(t Dataset) bool { return t.Name == name } }

// Advice is what the benchmark concludes, by what the document declares.
type Advice struct {
	Rule                string  // with the lowest mean regret on the tables that choose; empty without such tables
	Quoted              int     // other tables
	Ahead, Behind       int     // of them: better than tuned forgetting by an interval; worse by more than tolerance
	Regret, Forgetting  float64 // mean on them: of the rule, and of tuned forgetting
	Safe, Better, Third bool    // the three aims
}

// tolerance is how far behind tuned forgetting the advised rule may be, relative to its loss.
const tolerance = .005

// Advise chooses a rule in a suite on one half of the tables, and judges it on the other.
func Advise(all []*Losses, suite string) (a Advice) {
	chosen, quoted := Leaders(Of(all, suite, choosing)), Of(all, suite, quoting)
	if len(chosen) == 0 || len(quoted) == 0 {
		return a
	}
	a.Rule, a.Quoted = chosen[0].Rule, len(quoted)
	for _, l := range quoted {
		d := l.Against(a.Rule, backtest.Forgetting)
		if d.High < 0 {
			a.Ahead++
		}
		if d.Low > tolerance {
			a.Behind++
		}
		a.Regret += l.Regret(a.Rule) / float64(len(quoted))
		a.Forgetting += l.Regret(backtest.Forgetting) / float64(len(quoted))
	}
	a.Safe, a.Better, a.Third = a.Behind == 0, 2*a.Ahead >= a.Quoted, 3*a.Regret < a.Forgetting
	return a
}

// String says it in two sentences, for the notebook.
func (a Advice) String() string {
	if a.Rule == "" {
		return "Nothing is advised: there are not both tables to choose on and tables to quote."
	}
	return fmt.Sprintf("Chosen on one half of the tables: **%s**. On the %d others it is more than 0.5%% behind tuned forgetting "+
		"on %d (aim: none, %s) and ahead by an interval on %d (aim: half, %s); its mean regret is %s, that of tuned forgetting "+
		"%s (aim: under a third, %s).", a.Rule, a.Quoted, a.Behind, met(a.Safe), a.Ahead, met(a.Better), percent(a.Regret),
		percent(a.Forgetting), met(a.Third))
}

func met(aim bool) string {
	if aim {
		return "met"
	}
	return "not met"
}

// byRule finds leaders by their names.
func byRule(leaders []Leader) map[string]Leader {
	found := map[string]Leader{}
	for _, x := range leaders {
		found[x.Rule] = x
	}
	return found
}

// counts are the tables that a rule wins and loses.
func (x Leader) counts() string { return fmt.Sprintf("%d–%d", x.Won, x.Lost) }

// verdict judges a rule over tables, by what the document declares: it wins or loses at least two tables more.
func (x Leader) verdict() string {
	switch {
	case x.Won >= x.Lost+2:
		return "ahead"
	case x.Lost >= x.Won+2:
		return "behind"
	}
	return "no difference"
}
