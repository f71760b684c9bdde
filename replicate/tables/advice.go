package tables

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

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

// Advice is what to do.
type Advice struct {
	Sentence string        `json:"sentence"`
	Rule     string        `json:"rule"`
	Kind     crossfit.Kind `json:"kind"`      // "" for no omega
	HalfLife float64       `json:"half-life"` // in units of time; 0 for none
	Window   int           `json:"window"`    // the last so many blocks; 0 for all
	Helps    bool          `json:"helps"`     // omega is better than tuned forgetting, by an interval
	// Committee says that a committee is better than equal weights and tuned forgetting, by an interval each, and has a
	// lower loss than the rule.
	Committee bool `json:"committee"`
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
	r := &Backtest{About: about, Model: p.Model, Metric: list[0].name, Tuning: tuning(len(p.steps)), unit: p.timeUnit()}
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
	r.Verdict, r.Notes = r.nameCommittee(r.judge()), append(r.Notes, r.idle()...)
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

// simple lists the rules of which one is advised where omega is not and equal weights are not.
var simple = []string{Forgetting, Window, Last}

// slight is the gain, relative to the loss of equal weights, below which a rule is not advised unless its interval
// excludes 0.
const slight = .01

// judge says what to do. Omega is advised only if its best rule is better than tuned forgetting by its interval, has a
// lower loss than all simple rules, and is better than equal weights by its interval or by more than a slight gain.
// Otherwise it is the simple rule with the lowest loss of those that are better than equal weights by their intervals.
// If there is none, the one with the lowest loss is advised as what may be chance, but equal weights if its gain is
// slight.
func (r *Backtest) judge() Advice {
	score := func(x RuleResult) float64 { return x.Scores[r.Metric] }
	uniform := r.rule(Uniform)
	gains := func(x RuleResult) bool { return score(uniform)-score(x) >= slight*score(uniform) }
	lowest, certain := uniform, uniform // of the simple rules
	var best RuleResult                 // with omega
	none := ". No omega was tested."
	for _, x := range r.Rules {
		if slices.Contains(simple, x.Rule) && score(x) < score(lowest) {
			lowest = x
		}
		if slices.Contains(simple, x.Rule) && x.AgainstUniform.High < 0 && score(x) < score(certain) {
			certain = x
		}
		if x.Kind != "" && (best.Rule == "" || score(x) < score(best)) {
			best = x
		}
		if strings.HasPrefix(x.Rule, factor) {
			none = "."
		}
	}
	better := best.Rule != "" && score(best) < score(lowest) && best.AgainstForgetting.Mean < 0
	if better && best.AgainstForgetting.High < 0 && (best.AgainstUniform.High < 0 || gains(best)) {
		use := "--kind " + string(best.Kind)
		if best.HalfLife > 0 {
			use += fmt.Sprintf(" --half-life %g", best.HalfLife)
		}
		return Advice{Rule: best.Rule, Kind: best.Kind, HalfLife: best.HalfLife, Helps: true,
			Sentence: fmt.Sprintf("Use weights by %s%s (%s): %s %s instead of %s with the best tuned forgetting.",
				drifts[best.Kind], r.life(" with", best.HalfLife), use, r.Words(), r.loss(best), r.loss(r.rule(Forgetting)))}
	}
	base, maybe := certain, ""
	if base.Rule == Uniform && gains(lowest) {
		base, maybe = lowest, ", which may be chance"
	}
	v := Advice{Rule: base.Rule, HalfLife: base.HalfLife, Window: base.Window}
	v.Sentence = fmt.Sprintf("Use %s: %s %s", r.take(base), r.Words(), r.loss(base))
	switch {
	case base.Rule != Uniform:
		v.Sentence += fmt.Sprintf(" instead of %s%s", r.loss(uniform), maybe)
	case lowest.Rule != Uniform:
		v.Sentence += fmt.Sprintf(". Nothing beats equal weights here: %s differs by %s", lowest.Rule, lowest.AgainstUniform)
	default:
		v.Sentence += ". Nothing beats equal weights here"
	}
	switch {
	case best.Rule == "":
		v.Sentence += none
	case better:
		v.Sentence += fmt.Sprintf(". Weights by %s reach %s, which may be chance.", drifts[best.Kind], r.loss(best))
	default:
		v.Sentence += ". Weights by omega do not help here."
	}
	return v
}

// nameCommittee adds to the advice of a single weighting that a committee is better, where it is.
func (r *Backtest) nameCommittee(v Advice) Advice {
	c := r.rule(Committee) // without intervals if it took no part
	v.Committee = c.AgainstUniform.High < 0 && c.AgainstForgetting.High < 0 && r.byLoss(c, r.rule(v.Rule)) < 0
	if v.Committee {
		v.Sentence += fmt.Sprintf(" A committee of models on several time scales is better: %s %s.", r.Words(), r.loss(c))
	}
	return v
}

// take is what the weights of a simple rule take of the past, in words.
func (r *Backtest) take(rule RuleResult) string {
	switch {
	case rule.HalfLife > 0:
		return "forgetting" + r.life(" with", rule.HalfLife)
	case rule.Window > 0:
		block := "block"
		if r.Bin+"s" == r.unit {
			block = r.Bin
		}
		return "the last " + strings.TrimPrefix(runs.Plural(rule.Window, block), "1 ") + " only"
	}
	return "all of the past alike"
}

// drifts says what a kind of omega weights by.
var drifts = map[crossfit.Kind]string{
	crossfit.Joint:       "the drift of x and y",
	crossfit.Covariate:   "the drift of x",
	crossfit.Conditional: "the drift of y given x",
}

// life is a half-life for people, empty for none.
func (r *Backtest) life(before string, halfLife float64) string {
	if halfLife == 0 {
		return ""
	}
	unit := r.unit
	if halfLife == 1 {
		unit = strings.Replace(unit, "s", "", 1) // weeks, blocks, units of time
	}
	return fmt.Sprintf("%s a half-life of %g %s", before, halfLife, unit)
}

// timeUnit names the unit of half-lives.
func (p *BacktestJob) timeUnit() string {
	switch {
	case p.Bin.Unit != "":
		return p.Bin.Unit + "s"
	case p.Bin.Rows > 0 || p.Bin.Blocks > 0:
		return "blocks"
	}
	for _, c := range p.stream.Table.Schema().Columns {
		if c.Name == p.Time && c.Kind == table.Time {
			return "days"
		}
	}
	return "units of time"
}

// String is the interval as "-0.0140 [-0.0290, -0.0020]".
func (i Interval) String() string { return fmt.Sprintf("%+.4f [%+.4f, %+.4f]", i.Mean, i.Low, i.High) }

// idle is a note if a prediction without a model is better than all models; none otherwise.
func (r *Backtest) idle() []string {
	best := slices.MinFunc(r.Rules, r.byLoss).Rule
	if best == NoChange || best == Majority {
		return []string{fmt.Sprintf("%s, a prediction without a model, has the lowest %s: the features do not help this model",
			best, r.Words())}
	}
	return nil
}

// Words is the metric in sentences.
func (r *Backtest) Words() string { return strings.ReplaceAll(r.Metric, "-", " ") }

// Table is what terminals, pages and cells show of rules: a header, and a line for each.
func (r *Backtest) Table(rules []RuleResult) [][]string {
	measures := []string{r.Metric}
	for _, name := range slices.Sorted(maps.Keys(r.Rules[0].Scores)) {
		if name != r.Metric {
			measures = append(measures, name)
		}
	}
	table := [][]string{slices.Concat([]string{"rule"}, measures,
		[]string{"against equal weights", "against tuned forgetting", "chosen at last"})}
	for _, rule := range rules {
		line := []string{rule.Rule}
		for _, name := range measures {
			line = append(line, fmt.Sprintf("%.4f", rule.Scores[name]))
		}
		for _, i := range []Interval{rule.AgainstUniform, rule.AgainstForgetting} {
			line = append(line, strings.TrimSuffix(i.String(), Interval{}.String())) // empty for a rule against itself
		}
		chosen := strings.TrimSpace(r.life("", rule.HalfLife))
		switch {
		case len(rule.Members) > 1: // the two largest shares
			a, b := rule.Members[0], rule.Members[1]
			chosen = fmt.Sprintf("%.0f%% %s, %.0f%% %s", 100*a.Share, a.Weighting, 100*b.Share, b.Weighting)
		case rule.Window > 0 && rule.Tuned:
			chosen = runs.Plural(rule.Window, "block")
		case chosen == "" && rule.Tuned:
			chosen = strings.Join(rule.last.ofAge(), ", ")
		}
		table = append(table, append(line, chosen))
	}
	return table
}

// Span says which blocks were tested.
func (r *Backtest) Span() string {
	return fmt.Sprintf("%d test blocks, %s to %s, after %d that only tune", r.Tested, ShortName(r.Blocks[0].Time),
		ShortName(r.Blocks[len(r.Blocks)-1].Time), r.Tuning)
}

// mostRules is the number of rules in the summary.
const mostRules = 8

// shown are the rules of the summary, the lowest loss first, and how many others there are. It leaves out a rule that
// is the same as equal weights in all test blocks, and those with the highest loss.
func (r *Backtest) shown() (rules []RuleResult, others int) {
	for _, rule := range r.Rules {
		if rule.Rule == Uniform || rule.AgainstUniform != (Interval{}) {
			rules = append(rules, rule)
		}
	}
	slices.SortStableFunc(rules, r.byLoss)
	for len(rules) > mostRules {
		worst := len(rules) - 1
		for slices.Contains([]string{Uniform, Forgetting, r.Verdict.Rule}, rules[worst].Rule) {
			worst--
		}
		rules = slices.Delete(rules, worst, worst+1)
	}
	return rules, len(r.Rules) - len(rules)
}

// String is the summary for a terminal: the verdict, and a table of the rules.
func (r *Backtest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Verdict.Sentence)
	if r.Finding != nil {
		fmt.Fprintf(&b, "%s.\n", r.Finding.Sentence)
	}
	fmt.Fprintf(&b, "\n%s; model %s\n", r.Span(), r.ShortModel())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	rules, others := r.shown()
	for _, line := range r.Table(rules) {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // to a strings.Builder
	if others > 0 {
		fmt.Fprintf(&b, "%s with a higher loss, or the same as equal weights, on the page\n", runs.Plural(others, "other rule"))
	}
	b.WriteString("Intervals: 95%, by test blocks; those that decide hold for all rules that are compared. " +
		"Choices are made on earlier blocks alone.\n")
	return b.String() + r.noteLines()
}
