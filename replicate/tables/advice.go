package tables

import (
	"cmp"
	"fmt"
	"maps"
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
	history := &past{measure: r.Metric}
	for _, t := range p.steps {
		rows := p.stream.Times.Counts[t]
		if len(history.rows) >= r.Tuning {
			r.Blocks = append(r.Blocks, BlockResult{p.stream.Times.Names[t], rows, map[string]float64{}})
		}
		history.add(byStep[t], rows)
	}
	r.Tested = len(r.Blocks)
	add := func(found RuleResult, of func(i int) string) { // names of its predictions of the test blocks
		found.Scores = map[string]float64{}
		for _, m := range list {
			sum, rows := 0., 0.
			for i, b := range r.Blocks {
				v := history.blocks[r.Tuning+i][metric(m.name, of(r.Tuning+i))]
				if m.name == r.Metric {
					b.Scores[found.Rule] = v
				}
				sum, rows = sum+v*float64(b.Rows), rows+float64(b.Rows)
			}
			found.Scores[m.name] = sum / rows
		}
		r.Rules = append(r.Rules, found)
	}
	for _, rule := range slices.Concat(p.rules, []Rule{{Name: BestSoFar, Weightings: endsUniform(weightings(p.rules))},
		{Name: NoChange}, {Name: Majority}}) {
		found := RuleResult{Rule: rule.Name, Members: rule.members(history)}
		if rule.own() || rule.Weightings == nil {
			add(found, func(int) string { return rule.Name })
			continue
		}
		chosen := rule.chosen(history)
		last := chosen[len(chosen)-1]
		found.Kind, found.HalfLife, found.Window, found.Power = rule.Kind, last.HalfLife, last.Window, last.Power
		if found.Tuned = len(rule.Weightings) > 1; found.Tuned {
			for _, w := range chosen[r.Tuning:len(p.steps)] {
				found.Chosen = append(found.Chosen, w.String())
			}
		}
		add(found, func(i int) string { return chosen[i].String() })
	}
	r.compare(p.Seed)
	r.Verdict, r.Notes = r.nameCommittee(r.judge()), append(r.Notes, r.idle()...)
	return r
}

// endsUniform puts the uniform weighting last, which Rule.choose takes before anything is known.
func endsUniform(list []Weighting) []Weighting {
	return append(slices.DeleteFunc(list, func(w Weighting) bool { return w == Weighting{} }), Weighting{})
}

// compare fills in the intervals of the differences to uniform weights and to forgetting.
func (r *Backtest) compare(seed int64) {
	var rows []int
	for _, b := range r.Blocks {
		rows = append(rows, b.Rows)
	}
	against := func(base string, of func(*RuleResult) *Interval, together func(RuleResult) bool) {
		var all, family [][]float64
		for _, rule := range r.Rules {
			var d []float64
			for _, b := range r.Blocks {
				d = append(d, b.Scores[rule.Rule]-b.Scores[base])
			}
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

func (r *Backtest) index(rule string) int {
	return slices.IndexFunc(r.Rules, func(x RuleResult) bool { return x.Rule == rule })
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
	score := func(i int) float64 { return r.Rules[i].Scores[r.Metric] }
	loss := func(i int) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", score(i)), "0") }
	uniform, best := r.index(Uniform), -1
	lowest, certain := uniform, uniform // of the simple rules
	for _, name := range simple {
		i := r.index(name)
		if i < 0 {
			continue
		}
		if score(i) < score(lowest) {
			lowest = i
		}
		if r.Rules[i].AgainstUniform.High < 0 && score(i) < score(certain) {
			certain = i
		}
	}
	for i, rule := range r.Rules {
		if rule.Kind != "" && (best < 0 || score(i) < score(best)) {
			best = i
		}
	}
	gains := func(i int) bool { return score(uniform)-score(i) >= slight*score(uniform) }
	better := best >= 0 && score(best) < score(lowest) && r.Rules[best].AgainstForgetting.Mean < 0
	if better && r.Rules[best].AgainstForgetting.High < 0 && (r.Rules[best].AgainstUniform.High < 0 || gains(best)) {
		rule := r.Rules[best]
		use := "--kind " + string(rule.Kind)
		if rule.HalfLife > 0 {
			use += fmt.Sprintf(" --half-life %g", rule.HalfLife)
		}
		return Advice{Rule: rule.Rule, Kind: rule.Kind, HalfLife: rule.HalfLife, Helps: true,
			Sentence: fmt.Sprintf("Use weights by %s%s (%s): %s %s instead of %s with the best tuned forgetting.",
				drifts[rule.Kind], r.life(" with", rule.HalfLife), use, r.Words(), loss(best), loss(r.index(Forgetting)))}
	}
	base, maybe := certain, ""
	if base == uniform && gains(lowest) {
		base, maybe = lowest, ", which may be chance"
	}
	rule := r.Rules[base]
	v := Advice{Rule: rule.Rule, HalfLife: rule.HalfLife, Window: rule.Window}
	v.Sentence = fmt.Sprintf("Use %s: %s %s", r.take(rule), r.Words(), loss(base))
	switch {
	case base != uniform:
		v.Sentence += fmt.Sprintf(" instead of %s%s", loss(uniform), maybe)
	case lowest != uniform:
		v.Sentence += fmt.Sprintf(". Nothing beats equal weights here: %s differs by %s", r.Rules[lowest].Rule,
			r.Rules[lowest].AgainstUniform)
	default:
		v.Sentence += ". Nothing beats equal weights here"
	}
	switch {
	case best < 0 && slices.ContainsFunc(r.Rules, func(x RuleResult) bool { return strings.HasPrefix(x.Rule, factor) }):
		v.Sentence += "."
	case best < 0:
		v.Sentence += ". No omega was tested."
	case better:
		v.Sentence += fmt.Sprintf(". Weights by %s reach %s, which may be chance.", drifts[r.Rules[best].Kind], loss(best))
	default:
		v.Sentence += ". Weights by omega do not help here."
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
	best := 0
	for i, rule := range r.Rules {
		if rule.Scores[r.Metric] < r.Rules[best].Scores[r.Metric] {
			best = i
		}
	}
	if name := r.Rules[best].Rule; name == NoChange || name == Majority {
		return []string{fmt.Sprintf("%s, a prediction without a model, has the lowest %s: the features do not help this model",
			name, r.Words())}
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
		case rule.Power > 0:
			chosen = fmt.Sprintf("power %g", rule.Power)
		case rule.Window > 0 && rule.Tuned:
			chosen = runs.Plural(rule.Window, "block")
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
	slices.SortStableFunc(rules, func(a, b RuleResult) int { return cmp.Compare(a.Scores[r.Metric], b.Scores[r.Metric]) })
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
