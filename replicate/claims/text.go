package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/paper"
)

// Result is the verdict, with the data that it is about if others were not tested, the margin of a single part, whose
// own result tables do not show, and a remark if Holm's correction does not keep it.
func (j Judged) Result() string {
	text := string(j.Verdict)
	if len(j.Untested) > 0 {
		text += j.on()
	}
	decided := slices.DeleteFunc(slices.Clone(j.Parts), JudgedPart.onStandIn)
	switch {
	case len(j.Parts) == 1 && j.Parts[0].Verdict == j.Verdict:
		text = j.Parts[0].withMargin(text)
	case len(decided) > 0 && (j.Verdict == Holds || j.Verdict == DoesNotHold) &&
		!slices.ContainsFunc(decided, func(p JudgedPart) bool { return !p.negligible() && p.Verdict != NoDifference }):
		text += ", " + decided[0].noDifference()
	}
	if j.Holm == Lost {
		text += ", but not with Holm's correction"
	}
	return text + untested(j)
}

// Word is Result without its reasons and remarks.
func (j Judged) Word() string { return figures.Verdict{Word: j.Result()}.Short().Word }

// on names the data of a claim about several, without those that were not tested.
func (j Judged) on() string {
	if len(j.Tested) == 0 {
		return ""
	}
	return " on " + strings.Join(j.Tested, " and ")
}

// untested names the data on which claims were not tested, as "; CLEAR not tested"; empty if there are none.
func untested(claims ...Judged) string {
	var all []string
	for _, c := range claims {
		all = append(all, c.Untested...)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("; %s not tested", strings.Join(slices.Compact(all), " and "))
}

// Remarks says what else there is about a claim: numbers of other runs, an earlier wording or look, how it is counted.
func (j Judged) Remarks() string {
	var out []string
	if j.Note != "" {
		out = append(out, j.Note)
	}
	if j.Was != nil {
		out = append(out, fmt.Sprintf(`as first worded, "%s"%s: %s`, j.Was.Text, inParentheses(j.Was.Effects), j.Was.Verdict))
	}
	if j.First != nil {
		out = append(out, fmt.Sprintf("the first look, with seeds %s: %s%s", j.First.Seeds, j.First.Verdict,
			inParentheses(j.First.Effects)))
	}
	if j.Twin != "" {
		other := "another claim of this figure"
		if there := figureOf(j.Twin); there != figureOf(j.ID) {
			other = fmt.Sprintf("a claim of Figure %d", there)
		}
		out = append(out, fmt.Sprintf("repeats %s, with the same numbers", other))
	}
	if j.New {
		out = append(out, "not counted")
	}
	return strings.Join(out, "; ")
}

// figureOf returns the number of the figure with which a claim's id begins.
func figureOf(id string) (number int) {
	_, _ = fmt.Sscanf(id, "fig%d", &number)
	return number
}

// Line is a claim on a terminal: a sign, the verdict, what was measured, and a text.
func (j Judged) Line(text string) string {
	if j.Holm == Lost {
		text = "Not with Holm's correction: " + text
	}
	verdict := fmt.Sprintf("  %s %-13s  %-24s  ", signs[j.Verdict.Short()], j.Word(), j.Effects())
	if len(j.Untested) > 0 { // the verdict says so, and leaves no room
		verdict = strings.TrimRight(verdict, " ") + below
	}
	return verdict + text
}

// below begins a further line about a claim.
var below = "\n" + strings.Repeat(" ", 19)

// String is Line, followed by one for the paper's words, for each part and for the remarks.
func (j Judged) String() string {
	lines := []string{j.Line(j.Text + inParentheses(j.Place)), "the paper: " + j.Says}
	for _, p := range j.Shown() {
		lines = append(lines, p.String())
	}
	if remarks := j.Remarks(); remarks != "" {
		lines = append(lines, remarks)
	}
	return strings.Join(lines, below)
}

// signs show a verdict at a glance.
var signs = map[string]string{
	string(Holds): "+", string(Partly): "~", string(DoesNotHold): "-", string(NoDifference): "=", string(Undecided): "?",
	string(NotRun): ".", "not judged": ".",
}

// Shown returns the parts, and the floors where one of them is the reason of a verdict.
func (j Judged) Shown() []JudgedPart {
	if slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Verdict.kind() == NotJudged }) {
		return slices.Concat(j.Parts, j.Floors)
	}
	return j.Parts
}

// onPage is the claim as a page shows it.
func (j Judged) onPage(command func(panels string) string) figures.Claim {
	c := figures.Claim{Command: command(panelsOf(j.Shown()...)), ID: j.ID, Text: j.Text, Place: j.Place, Says: j.Says,
		Note: j.Remarks(), Gallery: j.Gallery,
		Verdict: figures.Verdict{Word: j.Result(), Outcome: outcomes[j.Verdict]}}
	for _, p := range j.Shown() {
		c.Parts = append(c.Parts, figures.ClaimPart{
			What: what(p.Part), Short: name(p.Part), Unit: p.unit(), Panel: p.panel(), Effect: p.Effect, Steps: p.remarks() + p.pText(),
			Verdict: figures.Verdict{Word: p.Result(), Outcome: p.outcome()}, Command: command(panelsOf(p)), Level: p.level(),
		})
	}
	return c
}

// Short is the verdict without its reason.
func (v Verdict) Short() string {
	word, _, _ := strings.Cut(string(v), ":")
	return word
}

// measured is Effects with its statistic where a reader would take it for a difference.
func (j Judged) measured() string {
	effects := j.Effects()
	if effects != "" && j.Parts[0].Statistic == paper.Correlation {
		return "correlation " + effects
	}
	return effects
}

// Effects lists the means of a claim's parts, without those about a stand-in; empty if there is none, or a run of the
// claim is missing.
func (j Judged) Effects() string {
	if j.Verdict == NotRun {
		return ""
	}
	var effects []statistics.Estimate
	var unit figures.Unit
	for _, p := range j.Parts {
		if p.Effect.N > 0 && !p.onStandIn() {
			unit = p.unit()
			effects = append(effects, p.Effect)
		}
	}
	between := ", "
	if last := len(effects) - 1; last > 2 {
		slices.SortFunc(effects, func(a, b statistics.Estimate) int { return cmp.Compare(a.Mean, b.Mean) })
		effects, between = []statistics.Estimate{effects[0], effects[last]}, " to "
	}
	var means []string
	for _, e := range effects {
		mean, _, _ := figures.Short(e, unit)
		means = append(means, mean)
	}
	if len(means) == 0 {
		return ""
	}
	return strings.Join(slices.Compact(means), between) + string(unit)
}
