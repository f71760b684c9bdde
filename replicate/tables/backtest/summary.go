package backtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/replicate/runs"
	"tvps/replicate/tables"
)

// Table is what terminals, pages and cells show of rules: a header, and a line for each.
func (r *Result) Table(rules []RuleResult) [][]string {
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
			line = append(line, r.number("", rule.Scores[name], 4))
		}
		for _, i := range []Difference{rule.AgainstUniform, rule.AgainstForgetting} {
			line = append(line, r.difference(i)) // empty for a rule against itself
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
func (r *Result) Span() string {
	gap := ""
	if r.Gap != "" {
		gap = ", with a gap of " + r.Gap
	}
	return fmt.Sprintf("%d test blocks, %s to %s, after %d that only tune%s", r.Tested, tables.ShortName(r.Blocks[0].Time),
		tables.ShortName(r.Blocks[len(r.Blocks)-1].Time), r.Tuning, gap)
}

// mostRules is the number of rules in the summary.
const mostRules = 8

// Sorted are all rules, the lowest loss first.
func (r *Result) Sorted() []RuleResult {
	return slices.SortedStableFunc(slices.Values(r.Rules), r.byLoss)
}

// Shown are the rules of the summary, sorted so, and how many others there are. It leaves out a rule that
// is the same as equal weights in all test blocks, and those with the highest loss.
func (r *Result) Shown() (rules []RuleResult, others int) {
	for _, rule := range r.Sorted() {
		if rule.Rule == Uniform || rule.AgainstUniform != (Difference{}) {
			rules = append(rules, rule)
		}
	}
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
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Verdict.Sentence)
	if r.Finding != nil {
		fmt.Fprintf(&b, "%s.\n", r.Finding.Sentence)
	}
	fmt.Fprintf(&b, "\n%s; model %s\n", r.Span(), r.ShortModel())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	rules, others := r.Shown()
	for _, line := range r.Table(rules) {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // to a strings.Builder
	if others > 0 {
		fmt.Fprintf(&b, "%s with a higher loss, or the same as equal weights, on the page\n", runs.Plural(others, "other rule"))
	}
	b.WriteString("Intervals: 95%, by test blocks; those that decide are wider, so that all of a column hold together. " +
		"Choices are made on earlier blocks alone.\n")
	return b.String() + r.NoteLines()
}

// Course is how a rule has done up to each test block: its mean loss minus that of another, over all rows up to there.
func Course(losses, others []float64, rows []int) []float64 {
	course, sum, total := make([]float64, len(rows)), 0., 0.
	for t, n := range rows {
		sum, total = sum+float64(n)*(losses[t]-others[t]), total+float64(n)
		course[t] = sum / total
	}
	return course
}
