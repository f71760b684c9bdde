package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/experiment"
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

// String returns the effect and the verdict in one line.
func (p JudgedPart) String() string {
	if p.Verdict == NotRun {
		return fmt.Sprintf("panel %s: %s: not run", p.panel(), what(p.Part))
	}
	return fmt.Sprintf("panel %s: %s is %s%s: %s", p.panel(), what(p.Part), p.Effect, p.remarks(), p.Result())
}

// panel returns the panel's letter, with its own scale and the stand-in for its data if there are any.
func (p JudgedPart) panel() string {
	key := p.Panel
	if p.Panels != "" {
		key = strings.Join(strings.Split(p.Panels, ""), ", ")
	}
	if p.Scale != "" {
		key += fmt.Sprintf(" (scale %s)", p.Scale)
	}
	return key + inParentheses(p.Metric.StandIn)
}

// remarks says which steps were measured, and the level of the interval if it is another one.
func (p JudgedPart) remarks() string {
	if p.Effect.Exact {
		return ""
	}
	if p.Level > 0 {
		return fmt.Sprintf("%s, %.3g%% interval (runs were added after a first verdict)", p.steps(), 100*p.Level)
	}
	return p.steps()
}

// pText is the p-value of the part's verdict, if it has one.
func (p JudgedPart) pText() string {
	switch {
	case p.P == 0:
		return ""
	case p.P < .001:
		return ", p < 0.001"
	}
	return fmt.Sprintf(", p = %.3f", p.P)
}

// Sample is how many seeds were measured and which steps, as "8 seeds, every 2nd step".
func (p JudgedPart) Sample() string {
	s := Sample{Seeds: make([]int64, p.Effect.N)}
	if p.Steps > 1 {
		s.Stride = p.Stride
	}
	return s.String()
}

// steps says which steps were measured, and what the interval is without the others; "" if they stand for no others.
func (p JudgedPart) steps() string {
	switch {
	case p.Effect.N < 2 || p.Steps < 2 || p.Stride == 0:
		return ""
	case p.OverSeeds == nil:
		return ", every step"
	}
	text := fmt.Sprintf(", every %s step (measured steps alone: %s", experiment.Ordinal(p.Stride), p.OverSeeds.Bounds(3))
	if alone := verdictOf(p.Part, *p.OverSeeds); alone != p.Verdict && p.Verdict.kind() != NotJudged {
		text += ", " + string(alone) + ": further steps may decide it"
	}
	return text + ")"
}

// Result is the verdict in short, with its margin. What was measured on a stand-in has none.
func (p JudgedPart) Result() string {
	if p.onStandIn() {
		return "not tested"
	}
	return p.withMargin(p.Verdict.Short())
}

// withMargin adds the margin to the words of the part's verdict if it takes part in it, or if a sign is known of a
// difference that counts as none.
func (p JudgedPart) withMargin(verdict string) string {
	switch {
	case p.Verdict == NoDifference:
		return fmt.Sprintf("%s of more than %s", verdict, p.margin())
	case p.Verdict == Undecided && p.Margin > 0:
		return fmt.Sprintf("%s (margin %s)", verdict, p.margin())
	case p.negligible():
		return verdict + ", " + p.noDifference()
	}
	return verdict
}

// negligible tells whether the part's sign is known but its whole interval lies within the margin.
func (p JudgedPart) negligible() bool {
	return p.Effect.N > 0 && (p.Verdict == Holds || p.Verdict == DoesNotHold) && negligible(p.Part, p.Effect)
}

func (p JudgedPart) noDifference() string {
	return string(NoDifference) + " of more than " + p.margin()
}

// margin is the margin in the unit of the effect.
func (p JudgedPart) margin() string {
	if p.unit() == figures.Points {
		return fmt.Sprintf("%.3g points", 100*p.Margin)
	}
	return fmt.Sprintf("%g", p.Margin)
}

// name is the statistic with its series.
func name(p paper.Part) string {
	labels := looks.Labels(p.Series, p.Base)
	words := definitions[cmp.Or(p.Statistic, paper.Difference)].words
	if p.Of != "" {
		words = strings.Replace(words, "mean of", "mean "+p.Of+" of", 1)
	}
	return strings.NewReplacer("SERIES", labels[0], "BASE", labels[1]).Replace(words)
}

// unit is that of the effect: points for differences of accuracies, percent for shares.
func (p JudgedPart) unit() figures.Unit {
	switch p.Statistic {
	case paper.Share, paper.Rejected:
		return figures.Percent
	case paper.Level, paper.End:
		if p.Metric.Name == "accuracy" {
			return figures.Percent
		}
	case paper.Difference, paper.EndGain, paper.Further, paper.Regret:
		if p.Metric.Name == "accuracy" {
			return figures.Points
		}
	}
	return ""
}

// what names the statistic with its series and its claimed bound.
func what(p paper.Part) string {
	text := name(p)
	switch {
	case p.Test == paper.Within && p.Around != 0:
		return fmt.Sprintf("%s (claimed within ±%g of %g)", text, p.Bound, p.Around)
	case p.Test == paper.Within:
		return fmt.Sprintf("%s (claimed within ±%g)", text, p.Bound)
	case p.Test == paper.Below:
		return fmt.Sprintf("%s (claimed below %.4g)", text, p.Bound)
	}
	return fmt.Sprintf("%s (claimed above %g)", text, p.Bound)
}

// Show is what every place shows of the judged claims of a figure: the sentence that answers its question, their
// number by verdict, and each of them. command returns the command that measures panels, listed as "b,c".
func Show(claims []Judged, command func(panels string) string) figures.Figure {
	f := figures.Figure{Answer: answer(claims), Tally: tally(claims, nil)}
	for _, c := range claims {
		f.Claims = append(f.Claims, c.onPage(command))
	}
	f.Tally += untested(claims...)
	return f
}

// Total counts the verdicts on the claims of several figures in words, as Show does for each. A claim with a Twin
// counts once, with it.
func Total(claims []Judged) string {
	once := withoutTwins(claims)
	kept, corrected := 0, false
	for _, c := range once {
		corrected = corrected || c.Holm != ""
		if !c.New && c.Verdict == Holds && c.Holm == Kept {
			kept++
		}
	}
	var remarks map[Verdict]string
	if corrected {
		remarks = map[Verdict]string{Holds: fmt.Sprintf(" (%d also with Holm's correction)", kept)}
	}
	return tally(once, remarks) + untested(once...)
}

func withoutTwins(claims []Judged) []Judged {
	return slices.DeleteFunc(slices.Clone(claims), func(c Judged) bool { return c.Twin != "" })
}

// tally counts the verdicts in words: "6 claims: 3 hold, 1 holds partly, 2 are undecided; 1 repeats another;
// not counted: 1 holds". The last are New. A remark stands behind the number of its verdict.
func tally(claims []Judged, remarks map[Verdict]string) string {
	text := "no claim"
	switch own := counted(claims, false); len(own) {
	case 0:
	case 1:
		text = "1 claim " + strings.TrimPrefix(verdicts(own, remarks), "1 ")
	default:
		text = fmt.Sprintf("%d claims: %s", len(own), verdicts(own, remarks))
	}
	switch repeats := len(claims) - len(withoutTwins(claims)); repeats {
	case 0:
	case 1:
		text += "; 1 repeats another"
	default:
		text += fmt.Sprintf("; %d repeat another", repeats)
	}
	if added := counted(claims, true); len(added) > 0 {
		text += "; not counted: " + verdicts(added, nil)
	}
	return text
}

// counted are the new claims, or the others.
func counted(claims []Judged, added bool) []Judged {
	return slices.DeleteFunc(slices.Clone(claims), func(c Judged) bool { return c.New != added })
}

// verdicts counts the verdicts, with remarks after their words: "2 hold, 1 is undecided".
func verdicts(claims []Judged, remarks map[Verdict]string) string {
	count := map[Verdict]int{}
	for _, c := range claims {
		count[c.Verdict.kind()]++
	}
	var parts []string
	for _, v := range []struct {
		verdict   Verdict
		one, many string
	}{
		{Holds, "holds", "hold"},
		{Partly, "holds partly", "hold partly"},
		{DoesNotHold, "does not hold", "do not hold"},
		{NoDifference, "shows no difference", "show no difference"},
		{Undecided, "is undecided", "are undecided"}, {NotRun, "is not run", "are not run"},
		{NotJudged, "is not judged", "are not judged"},
	} {
		switch n := count[v.verdict]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one+remarks[v.verdict])
		default:
			parts = append(parts, fmt.Sprintf("%d %s%s", n, v.many, remarks[v.verdict]))
		}
	}
	return strings.Join(parts, ", ")
}

// outcomes gives each verdict its look on a page.
var outcomes = map[Verdict]figures.Outcome{
	Holds: figures.Confirmed, Partly: figures.Mixed, DoesNotHold: figures.Contradicted,
	NoDifference: figures.Contradicted, Undecided: figures.Open,
	NotRun: figures.Missing, NotJudged: figures.Missing, NotAdapted: figures.Missing,
}

// outcome gives the part's verdict its look; one on a stand-in counts as none.
func (p JudgedPart) outcome() figures.Outcome {
	if p.onStandIn() {
		return figures.Missing
	}
	return outcomes[p.Verdict]
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
			Verdict: figures.Verdict{Word: p.Result(), Outcome: p.outcome()}, Command: command(panelsOf(p)),
		})
	}
	return c
}

// Short is the verdict without its reason.
func (v Verdict) Short() string {
	word, _, _ := strings.Cut(string(v), ":")
	return word
}

// answer is the sentence that answers the question of a figure, made from the verdicts on those of its claims that have
// a short form: what holds, what does not, what is undecided.
func answer(judged []Judged) []figures.Answer {
	var out []figures.Answer
	for _, v := range []Verdict{Holds, Partly, DoesNotHold, NoDifference, Undecided, NotJudged, NotRun} {
		var texts []string
		var of []Judged
		for _, c := range judged {
			if c.Short != "" && c.Verdict.kind() == v {
				texts, of = append(texts, c.Short+c.on()+inParentheses(c.measured())), append(of, c)
			}
		}
		if len(texts) > 0 {
			verdict := figures.Verdict{Word: v.Short(), Outcome: outcomes[v]}
			out = append(out, figures.Answer{Verdict: verdict, Text: strings.Join(texts, "; ") + untested(of...)})
		}
	}
	return out
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
