package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// TestStatistics compares all statistics of a curve with values computed by hand.
func TestStatistics(t *testing.T) {
	c := curve{t: []float64{0, 1, 2, 3, 4, 5, 6}, series: []float64{1, 2, 3, 4, 5, 6, 7},
		base: []float64{2, 2, 2, 2, 2, 2, 2}, exact: []float64{7, 6, 5, 4, 3, 2, 1}}
	for name, want := range map[paper.Statistic]float64{
		paper.Level: 4, paper.Difference: 2, paper.Share: 5.5 / 7, paper.Rejected: 0, paper.Slope: 100, paper.Correlation: 0,
		paper.CorrelationGain: -1, paper.Ratio: 1, paper.End: 7,
		paper.EndGain: 5, paper.Adapts: 5,
		paper.Sooner: -2,
	} {
		grid, err := definitions[name].grid([]curve{c}, false)
		demand.NoError(t, err)
		if got := stat.Mean(grid[0], nil); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	p := curve{t: c.t, series: []float64{0, .049, .05, .2, .3, .4, 1}}
	if got := stat.Mean(rejected(p), nil); math.Abs(got-2/7.) > 1e-12 {
		t.Errorf("%v of the p-values are below .05, want 2 of 7", got)
	}
	for _, f := range paper.Figures() {
		for _, c := range f.Claims {
			for _, p := range c.Parts {
				if _, ok := definitions[cmp.Or(p.Statistic, paper.Difference)]; !ok {
					t.Errorf("claim %s: no statistic %q", c.ID, p.Statistic)
				}
			}
		}
	}
	if len(definitions) != 17 {
		t.Errorf("there are %d statistics, 12, Spread, Highest, Further, Regret and Variation are tested", len(definitions))
	}
}

// TestHighest: times 84, 79, 74 and 69 against all times of another phase than 99; other times of its phase do not
// matter. With another period or target there is no value.
func TestHighest(t *testing.T) {
	for _, c := range []struct {
		period, last int
		want         float64
	}{{5, 99, .3}, {10, 99, math.NaN()}, {5, 49, math.NaN()}, {5, 94, math.NaN()}} {
		var x curve
		for t := range c.last + 1 {
			score, exact := .1, 1.
			switch {
			case (c.last-t)%c.period != 0:
				score, exact = .3, .9
			case t == 69 || t == 74 || t == 79 || t == 84:
				score = .6 + float64(84-t)/100
			}
			x.t, x.series, x.exact = append(x.t, float64(t)), append(x.series, score), append(x.exact, exact)
		}
		if got := highest(x); math.Abs(got-c.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("period %d, target %d: the named times are %v above those of other phases, want %v", c.period, c.last, got,
				c.want)
		}
	}
}

// TestSooner: a curve that never reaches the final level of the base counts as one measurement late.
func TestSooner(t *testing.T) {
	at := []float64{10, 20, 30, 40, 50, 60, 70, 80}
	base := []float64{0, 0, 0, 0, 6, 6, 6, 6} // ends at 6; the mean of three values reaches it at 70
	for _, c := range []struct {
		series []float64
		want   float64
	}{
		{base, 0},
		{[]float64{0, 6, 6, 6, 6, 6, 6, 6}, 30},
		{[]float64{6, 0, 0, 0, 0, 0, 0, 0}, 60},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 5}, -20},
	} {
		demand.Equal(t, sooner(curve{t: at, series: c.series, base: base}), c.want, "%v comes sooner by", c.series)
	}
}

// TestSpread: the log of the ratio of the variances over seeds, each averaged over steps.
func TestSpread(t *testing.T) {
	var rows []figures.Row
	for seed, v := range []float64{1, 2, 6} {
		for at := range 2 {
			rows = append(rows, figures.Row{Panel: "a", Series: "sac-omega", Seed: int64(seed), T: at,
				Metric: "return", Value: v + float64(100*at)},
				figures.Row{Panel: "a", Series: "sac", Seed: int64(seed), T: at, Metric: "return", Value: 3 * v})
		}
	}
	m, err := NewEffect(rows, paper.Part{Panel: "a", Series: "sac-omega", Base: "sac", Statistic: paper.Spread},
		"return", false)
	demand.NoError(t, err)
	got := m.Interval(statistics.Level)
	if want := -math.Log(9); math.Abs(got.Mean-want) > 1e-12 || got.N != 3 || got.High < want {
		t.Errorf("%+v, want %v", got, want)
	}
}

// agentRows returns rows of three seeds over eight steps: SAC rises from -100 to end, omega stays 10 above it, doing
// nothing stays at -80, and random actions at random. The seeds differ by spread.
func agentRows(end, spread, random float64) []figures.Row {
	var rows []figures.Row
	for seed := range int64(3) {
		for t := 1; t <= 8; t++ {
			sac := end + spread*float64(seed-1)
			if t <= 6 { // before the last quarter
				sac = -100
			}
			for series, value := range map[string]float64{"sac": sac, "sac-omega": sac + 10 + .1*float64(seed),
				"nothing": -80, "random": random} {
				rows = append(rows, figures.Row{Panel: "a", Series: series, Seed: seed, T: t, Metric: "return", Value: value})
			}
		}
	}
	return rows
}

// A comparison of agents is judged where one agent ends above doing nothing and above random actions, by the interval
// over seeds. Otherwise it is not judged, which is neither undecided nor not run.
func TestFloors(t *testing.T) {
	c := paper.Claim{ID: "x", Text: "Omega is better", Place: "here", Parts: []paper.Part{
		{Panel: "a", Series: "sac-omega", Base: "sac"}}}
	shown := map[string]shownPanel{"a": {metric: Metric{Name: "return"}, learners: []string{"sac", "sac-omega"},
		floors: []string{"nothing", "random"}}}
	without := func(name string) []figures.Row {
		return slices.DeleteFunc(agentRows(-40, 1, -90), func(r figures.Row) bool { return r.Series == name })
	}
	for what, c2 := range map[string]struct {
		rows []figures.Row
		want Verdict
	}{
		"above both":             {agentRows(-40, 1, -90), Holds},
		"below doing nothing":    {agentRows(-95, 1, -98), NotJudged},
		"below random actions":   {agentRows(-40, 1, -20), NotJudged},
		"above, but not surely":  {agentRows(-85, 20, -98), NotJudged},
		"without a floor's runs": {without("random"), NotRun},
		"without the part's run": {without("sac-omega"), NotRun},
	} {
		j := judgeClaim(c, shown, rowsOf(c2.rows))
		if j.Verdict != c2.want || j.Parts[0].Verdict != c2.want {
			t.Errorf("%s: %+v, want %s", what, j, c2.want)
		}
		line := j.String()
		if says := strings.Contains(line, "SAC minus Doing nothing over the last quarter"); says != (c2.want == NotJudged) {
			t.Errorf("%s: %s", what, line)
		}
	}
	one := slices.DeleteFunc(agentRows(-95, 1, -98), func(r figures.Row) bool { return r.Seed > 0 })
	if j := judgeClaim(c, shown, rowsOf(one)); j.Verdict != Undecided {
		t.Errorf("one seed: %s, want %s", j, Undecided)
	}
	below := rowsOf(agentRows(-95, 1, -98))
	shownPart := judgeClaim(c, shown, below).onPage(noCommand)
	if len(shownPart.Parts) != 3 || shownPart.Verdict.Outcome != figures.Missing || shownPart.Verdict.Word != string(NotJudged) {
		t.Errorf("the page shows %+v", shownPart)
	}
	shown["a"] = shownPanel{metric: Metric{Name: "return"}}
	if j := judgeClaim(c, shown, below); j.Verdict != Holds {
		t.Errorf("a panel without floors: %s", j)
	}
}

// One learner of a panel that has learned is enough for every comparison of the panel, whichever side it is on.
func TestOneHasLearned(t *testing.T) {
	context := map[string]string{"sac": "sac-context", "sac-omega": "sac-context-omega"}
	rowsWith := func(end float64) []figures.Row { // of SAC; those with context have learned nothing
		rows := agentRows(end, 1, -98)
		for _, r := range agentRows(-95, 1, -98) {
			if r.Series = context[r.Series]; r.Series != "" {
				rows = append(rows, r)
			}
		}
		return rows
	}
	shown := map[string]shownPanel{"a": {metric: Metric{Name: "return"}, floors: []string{"nothing", "random"},
		learners: []string{"sac", "sac-omega", "sac-context", "sac-context-omega"}}}
	part := func(series, base string) paper.Part { return paper.Part{Panel: "a", Series: series, Base: base} }
	c := paper.Claim{Parts: []paper.Part{part("sac-omega", "sac"), part("sac-context", "sac"), part("sac", "sac-context"),
		part("sac-context-omega", "sac-context")}}
	for end, want := range map[float64][]Verdict{-40: {Holds, DoesNotHold, Holds, Holds},
		-95: {NotJudged, NotJudged, NotJudged, NotJudged}} {
		j := judgeClaim(c, shown, rowsOf(rowsWith(end)))
		for i, p := range j.Parts {
			demand.Equal(t, p.Verdict, want[i], "SAC ends at %g: %s", end, p)
		}
	}
}

// speedRows returns the returns of agents in three tasks whose targets are 0, 1 and 3, by -|v - target|. The policy of
// a single speed has 1, so it earns least with the last target: -2, where its mean is -1. A learner has the speed for
// each target that speeds gives; each further seed earns .05 less.
func speedRows(speeds map[string][3]float64) []figures.Row {
	var rows []figures.Row
	for seed := range int64(3) {
		for t := 1; t <= 4; t++ {
			for series, speed := range speeds {
				mean := 0.
				for i, target := range []float64{0, 1, 3} {
					earned := -math.Abs(speed[i] - target)
					if series != "single" {
						earned -= .05 * float64(seed)
					}
					mean += earned / 3
					rows = append(rows, figures.Row{Panel: "a", Series: series, Seed: seed, T: t, Metric: fmt.Sprint("return-", target),
						Value: earned})
				}
				rows = append(rows, figures.Row{Panel: "a", Series: series, Seed: seed, T: t, Metric: "return", Value: mean})
			}
		}
	}
	return rows
}

// Agents that do the same in every task are not compared, however much they earn; that one of the two adapts is enough.
func TestAdapts(t *testing.T) {
	c := paper.Claim{Parts: []paper.Part{{Panel: "a", Series: "sac-omega", Base: "sac"}}}
	shown := map[string]shownPanel{"a": {metric: Metric{Name: "return"}, single: "single",
		learners: []string{"sac", "sac-omega"}}}
	for what, c2 := range map[string]struct {
		sac, omega [3]float64
		want       Verdict
	}{
		"both adapt":           {[3]float64{.5, 1, 2}, [3]float64{0, 1, 3}, Holds},
		"omega adapts":         {[3]float64{1, 1, 1}, [3]float64{.5, 1, 2}, Holds},
		"the base adapts":      {[3]float64{0, 1, 3}, [3]float64{1, 1, 1}, DoesNotHold},
		"neither, omega above": {[3]float64{0, 0, 0}, [3]float64{1, 1, 1}, NotAdapted},
		"better in the middle": {[3]float64{1, 0, 1}, [3]float64{0, 1, .9}, NotAdapted},
	} {
		rows := speedRows(map[string][3]float64{"single": {1, 1, 1}, "sac": c2.sac, "sac-omega": c2.omega})
		j := judgeClaim(c, shown, rowsOf(rows))
		demand.Equal(t, j.Verdict, c2.want, "%s: %s", what, j)
		if c2.want == NotAdapted && !strings.Contains(j.String(), "in the tasks where that earns least") {
			t.Errorf("%s: %s", what, j)
		}
	}
	one := speedRows(map[string][3]float64{"single": {1, 1, 1}, "sac": {0, 1, 2.5}})
	p := paper.Part{Panel: "a", Series: "sac", Base: "single", Statistic: paper.Adapts}
	// 1.5 with the last target: -.5 against -2, less .05 on average over the seeds.
	if part := judgePart(p, shown, rowsOf(one)); math.Abs(part.Effect.Mean-1.45) > 1e-9 {
		t.Errorf("the gain with the last target is %v, want 1.45", part.Effect.Mean)
	}
	without := slices.DeleteFunc(one, func(r figures.Row) bool { return r.Metric != "return" })
	if part := judgePart(p, shown, rowsOf(without)); part.Verdict != NotRun {
		t.Errorf("without returns of tasks: %s", part)
	}
}
