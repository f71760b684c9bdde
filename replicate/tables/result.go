package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
)

// Backtest is a back test.
type Backtest struct {
	About
	Model   string        `json:"model"`
	Metric  string        `json:"metric"` // that chooses and compares: "log-loss" or "squared-error"
	Tuning  int           `json:"tuning"` // test blocks before those that count: choices are made on them, too
	Tested  int           `json:"tested"` // test blocks that count
	Rules   []RuleResult  `json:"rules"`
	Blocks  []BlockResult `json:"blocks"`
	Verdict Advice        `json:"verdict"`

	unit string // of half-lives, for people
}

// RuleResult is what a rule would have given.
type RuleResult struct {
	Rule   string             `json:"rule"`
	Kind   crossfit.Kind      `json:"kind"`
	Tuned  bool               `json:"tuned"`
	Scores map[string]float64 `json:"scores"` // mean over the rows of the test blocks, by measure
	// The verdict rests on the intervals of forgetting, window and last against equal weights, which hold together, and on
	// those of the rules with omega against forgetting, which hold together, too. The others hold one by one.
	AgainstUniform    Interval `json:"against-uniform"`
	AgainstForgetting Interval `json:"against-forgetting"`
	HalfLife          float64  `json:"half-life"`         // chosen after the last test block
	Window            int      `json:"window,omitempty"`  // chosen after the last test block, in blocks
	Power             float64  `json:"power,omitempty"`   // chosen after the last test block
	Chosen            []string `json:"chosen,omitempty"`  // before each test block that counts
	Members           []Member `json:"members,omitempty"` // of a committee after the last test block, by falling share

	last Weighting // chosen after the last test block
}

// Member is a model whose prediction is mixed with those of others.
type Member struct {
	Weighting string  `json:"weighting"`
	HalfLife  float64 `json:"half-life"`
	Window    int     `json:"window"`
	Share     float64 `json:"share"`
}

// BlockResult is a test block that counts.
type BlockResult struct {
	Time   string             `json:"time"`
	Rows   int                `json:"rows"`
	Scores map[string]float64 `json:"scores"` // Metric by rule
	// HeldOut is the held-out loss of g, of x and y; 0 if it is not fitted.
	HeldOut float64 `json:"g-held-out-loss,omitempty"`
}

// tuning is the number of the first test blocks on which choices are made, but which do not count: a fifth, at least 2.
func tuning(tests int) int { return max(2, tests/5) }

// newResult summarises the stored rows.
func newResult(p *BacktestJob, about About, rows []runs.Row) *Backtest {
	byStep := map[int][]runs.Row{}
	for _, r := range rows {
		byStep[r.T] = append(byStep[r.T], r)
	}
	list := measures(p.stream)
	r := &Backtest{About: about, Model: p.Model, Metric: list[0].name, Tuning: tuning(len(p.steps)), unit: p.stream.timeUnit()}
	history := p.past(byStep, math.MaxInt)
	r.Blocks = collect(p.steps[r.Tuning:], func(t int) BlockResult {
		return BlockResult{p.stream.Times.Names[t], p.stream.Times.Counts[t], map[string]float64{}, 0}
	})
	for i := range r.Blocks {
		r.Blocks[i].HeldOut = history.blocks[r.Tuning+i][heldOut(crossfit.Joint)]
	}
	r.Tested = len(r.Blocks)
	all := weightings(p.rules)
	best := Rule{Name: BestSoFar, Weightings: slices.Concat(all[1:], all[:1])} // before any block it takes equal weights
	for _, rule := range slices.Concat(p.rules, []Rule{best, {Name: NoChange}, {Name: Majority}}) {
		found := RuleResult{Rule: rule.Name, Members: rule.members(history), Scores: map[string]float64{}}
		names := slices.Repeat([]string{rule.Name}, len(p.steps)) // of its predictions of the test blocks
		if !rule.ownPrediction() && rule.Weightings != nil {
			chosen := rule.chosen(history)
			last := chosen[len(chosen)-1]
			found.Kind, found.last = rule.Kind, last
			found.HalfLife, found.Window, found.Power = last.HalfLife, last.Window, last.Power
			names = collect(chosen, Weighting.String)
			if found.Tuned = len(rule.Weightings) > 1; found.Tuned {
				found.Chosen = names[r.Tuning:len(p.steps)]
			}
		}
		for _, m := range list {
			sum, rows := 0., 0.
			for i, b := range r.Blocks {
				v := history.blocks[r.Tuning+i][metric(m.name, names[r.Tuning+i])]
				if m.name == r.Metric {
					b.Scores[found.Rule] = v
				}
				sum, rows = sum+v*float64(b.Rows), rows+float64(b.Rows)
			}
			found.Scores[m.name] = sum / rows
		}
		r.Rules = append(r.Rules, found)
	}
	r.compare(p.Seed)
	r.Verdict = r.nameCommittee(r.judge())
	r.Notes = append(r.Notes, r.idle()...)
	return r
}

// compare fills in the intervals of the differences to uniform weights and to forgetting.
func (r *Backtest) compare(seed int64) {
	rows := collect(r.Blocks, func(b BlockResult) int { return b.Rows })
	against := func(base string, of func(*RuleResult) *Interval, together func(RuleResult) bool) {
		var all, family [][]float64
		for _, rule := range r.Rules {
			d := collect(r.Blocks, func(b BlockResult) float64 { return b.Scores[rule.Rule] - b.Scores[base] })
			all = append(all, d)
			if together(rule) {
				family = append(family, d)
			}
		}
		alone, _ := blockBootstrap(all, rows, seed)
		_, both := blockBootstrap(family, rows, seed)
		for i := range r.Rules {
			found := alone[i]
			if together(r.Rules[i]) {
				found, both = both[0], both[1:]
			}
			*of(&r.Rules[i]) = found
		}
	}
	against(Uniform, func(x *RuleResult) *Interval { return &x.AgainstUniform },
		func(x RuleResult) bool { return slices.Contains(simple, x.Rule) })
	against(Forgetting, func(x *RuleResult) *Interval { return &x.AgainstForgetting },
		func(x RuleResult) bool { return x.Kind != "" })
}

// rule is the result of a rule; the zero value if it took no part.
func (r *Backtest) rule(name string) (found RuleResult) {
	for _, x := range r.Rules {
		if x.Rule == name {
			found = x
		}
	}
	return found
}

func (r *Backtest) byLoss(a, b RuleResult) int {
	return cmp.Compare(a.Scores[r.Metric], b.Scores[r.Metric])
}

// loss is the loss of a rule for people.
func (r *Backtest) loss(x RuleResult) string {
	return strings.TrimPrefix(fmt.Sprintf("%.3f", x.Scores[r.Metric]), "0")
}

// timeUnit names the unit of half-lives.
func (s *Stream) timeUnit() string {
	switch bin := s.Source.Bin; {
	case bin.Unit != "":
		return bin.Unit + "s"
	case bin.Rows > 0 || bin.Blocks > 0:
		return "blocks"
	}
	for _, c := range s.Table.Schema().Columns {
		if c.Name == s.Source.Time && c.Kind == table.Time {
			return "days"
		}
	}
	return "units of time"
}
