// Package claims judges the claims of the paper by stored runs: which runs serve a claim, the statistics and their
// intervals, the verdicts, and which further runs would decide. It draws nothing and computes no run.
package claims

import (
	"cmp"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// Judged is a claim with its verdict and effects.
type Judged struct {
	paper.Claim
	Figure  string       `json:"figure"`
	Verdict Verdict      `json:"verdict"`
	Parts   []JudgedPart `json:"parts"`
	Floors  []JudgedPart `json:"floors,omitempty"` // the comparisons that decide whether the parts are judged
	P       float64      `json:"p,omitempty"`      // p-value of the verdict; 0 if nothing is decided
	Holm    Holm         `json:"holm,omitempty"`   // set where all claims are judged together
	Gallery string       `json:"-"`                // what the gallery's larger sample says, set by its readers
	Was     *Earlier     `json:"was,omitempty"`
	First   *FirstLook   `json:"first-look,omitempty"` // where further seeds have been added, as declared

	// The data of a claim about several: those that were tested, and those that a stand-in replaced.
	Tested   []string `json:"tested,omitempty"`
	Untested []string `json:"untested,omitempty"`
}

// Earlier is the claim as it was worded at first, with its verdict.
type Earlier struct {
	paper.Wording
	Verdict Verdict `json:"verdict"`
	Effects string  `json:"effects"` // what was measured, in a line
}

// FirstLook is the verdict on a claim by the first of its seeds.
type FirstLook struct {
	Seeds   string  `json:"seeds"`
	Verdict Verdict `json:"verdict"`
	Effects string  `json:"effects"` // see Earlier
}

// JudgedPart is a part with its verdict and effect. Effect is about all steps of the stream. OverSeeds is about the
// measured ones alone, if these are every second step or fewer.
type JudgedPart struct {
	paper.Part
	Metric    Metric               `json:"metric,omitzero"` // what the panel shows
	Scale     experiment.Scale     `json:"scale,omitempty"` // of the panel, if it is not that of the figure
	Verdict   Verdict              `json:"verdict"`
	P         float64              `json:"p,omitempty"` // p-value of a verdict that the interval decides
	Effect    statistics.Estimate  `json:"effect"`
	OverSeeds *statistics.Estimate `json:"over-seeds,omitempty"`
	Steps     int                  `json:"steps,omitempty"`  // number of measured steps
	Stride    int                  `json:"stride,omitempty"` // distance between them; 0 if they stand for no others
	Level     float64              `json:"level,omitempty"`  // of the intervals, if it is not statistics.Level
}

// Judge judges all claims of a figure by the runs of panels. One with a part about another panel is not run.
func Judge(f paper.Figure, panels []Collected) []Judged {
	var out []Judged
	e := newEvidence(panels)
	shown := map[string]shownPanel{}
	for _, p := range panels {
		if p.Narrow {
			continue
		}
		shown[p.Key] = shownPanel{p.Shown(), p.Series, p.Trained(), p.Sampled(), p.floors(), p.Single, p.Data(), p.Scale}
	}
	for _, c := range f.Claims {
		j := judgeClaim(c, shown, e)
		j.Figure = f.Name()
		out = append(out, j)
	}
	addFirst(out, f, panels)
	return out
}

// addFirst adds the verdicts of the first look to those by more seeds.
func addFirst(judged []Judged, f paper.Figure, panels []Collected) {
	first, seeds := slices.Clone(panels), map[string]string{}
	for i, p := range panels {
		if len(p.First) > 0 && len(p.Seeds) > len(p.First) {
			first[i], seeds[p.Key] = p.of(p.First), FormatSeeds(p.First, ", ")
		}
	}
	if len(seeds) == 0 {
		return
	}
	for i, c := range Judge(f, first) {
		for key := range strings.SplitSeq(panelsOf(c.Parts...), ",") {
			if text, ok := seeds[key]; ok && judged[i].Verdict != NotRun {
				judged[i].First = &FirstLook{text, c.Verdict, c.Effects()}
			}
		}
	}
}

// evidence is what claims are judged by: the rows of panels, and those of narrow samples before those of the same
// panels as they are drawn.
type evidence []samplePart

// samplePart is a sample of a panel, of all its series or of some.
type samplePart struct {
	panel  string // its key
	series []string
	rows   []figures.Row
	level  float64 // of the intervals
}

// newEvidence returns the rows of panels by which claims are judged.
func newEvidence(panels []Collected) evidence {
	var e evidence
	for _, narrow := range []bool{true, false} {
		for _, c := range panels {
			if c.Narrow == narrow {
				e = append(e, samplePart{c.Key, c.Series, c.Judging(), c.Level()})
			}
		}
	}
	return e
}

// of returns the rows by which series of a panel are judged together, and the level of their intervals.
func (e evidence) of(key string, series []string) (rows []figures.Row, level float64) {
	for _, s := range e {
		if s.panel == key && len(without(series, s.series)) == 0 {
			return s.rows, s.level
		}
	}
	return nil, statistics.Level
}

// shownPanel is what a panel shows.
type shownPanel struct {
	metric   Metric
	series   []string
	learners []string         // of the series
	sample   bool             // whether its steps stand for those between them
	floors   []string         // series that a learner must exceed, or no part of the panel is judged
	single   string           // that this learner must also exceed where this one earns least; "" for none
	data     string           // see paper.Panel.Data
	scale    experiment.Scale // see Panel
}

// onStandIn tells whether a stand-in replaces the data of the part's panel, so that it decides nothing about its claim.
func (p JudgedPart) onStandIn() bool { return p.Metric.StandIn != "" }

// judgeClaim judges one claim, and its earlier wording if it has one; shown is what each panel shows. A part without
// values is not run. A part about a panel whose learners do not pass its gate is not judged.
func judgeClaim(c paper.Claim, shown map[string]shownPanel, e evidence) Judged {
	j := Judged{Claim: c}
	for _, p := range c.Parts {
		part, gate := judgePart(p, shown, e), j.gate(p, shown, e)
		switch {
		case part.Verdict == NotRun || part.Effect.N < 2:
		case gate == NotRun:
			part = JudgedPart{Part: part.Part, Metric: part.Metric, Verdict: NotRun}
		case gate != Holds:
			part.Verdict = gate
		}
		j.Parts = append(j.Parts, part)
	}
	if j.Verdict = combine(j.Parts); j.Verdict != NotRun {
		j.Tested, j.Untested = dataOf(j.Parts, shown)
	}
	j.P = pValue(j)
	if c.Was != nil {
		was := judgeClaim(paper.Claim{Parts: c.Was.Parts}, shown, e)
		j.Was = &Earlier{*c.Was, was.Verdict, was.Effects()}
	}
	return j
}

// dataOf lists the data of parts, tested and not; none if the parts are about one kind of data.
func dataOf(parts []JudgedPart, shown map[string]shownPanel) (tested, untested []string) {
	for _, key := range strings.Split(panelsOf(parts...), ",") {
		list := &tested
		if shown[key].metric.StandIn != "" {
			list = &untested
		}
		if data := shown[key].data; data != "" && !slices.Contains(*list, data) {
			*list = append(*list, data)
		}
	}
	if len(tested)+len(untested) < 2 {
		return nil, nil
	}
	return tested, untested
}

// judgePart judges one part, about the metric that its panel shows. The closed form decides if there is one, which has
// no p-value.
func judgePart(p paper.Part, shown map[string]shownPanel, e evidence) JudgedPart {
	p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
	panel := shown[p.Panel]
	part := JudgedPart{Part: p, Metric: panel.metric, Verdict: NotRun}
	if p.Panels == "" { // several panels have no scale of their own
		part.Scale = panel.scale
	}
	part.Metric.Name = cmp.Or(p.Of, part.Metric.Name)
	m, level, err := measure(p, part.Metric.Name, shown, e)
	if err != nil {
		return part
	}
	part.Effect, part.Steps = m.Interval(level), m.steps
	if panel.sample {
		part.Stride = m.stride
	}
	if level != statistics.Level {
		part.Level = level
	}
	if m.stride > 1 {
		alone := m.overSeeds(level)
		part.OverSeeds = &alone
	}
	if known := p.Known; known != 0 {
		part.OverSeeds = nil
		part.Effect = statistics.Estimate{Mean: known, Low: known, High: known, N: part.Effect.N, Exact: true}
	}
	part.Verdict = verdictOf(p, part.Effect)
	if part.Verdict != Undecided && p.Known == 0 {
		decides := func(e statistics.Estimate) bool { return verdictOf(p, e) == part.Verdict }
		if part.Verdict == NoDifference { // also of narrow intervals, which may exclude the bound
			decides = func(e statistics.Estimate) bool { return negligible(p, e) }
		}
		found := m.Interval.PValue(decides)
		part.P = min(1, found*(1-statistics.Level)/(1-level))
	}
	return part
}

// verdictOf compares the whole interval with the bound. With fewer than two seeds a part is undecided.
func verdictOf(p paper.Part, e statistics.Estimate) Verdict {
	holds, fails := e.Low > p.Bound, e.High < p.Bound
	switch p.Test {
	case paper.Below:
		holds, fails = fails, holds
	case paper.Within:
		low, high := p.Around-p.Bound, p.Around+p.Bound
		holds, fails = e.Low > low && e.High < high, e.Low > high || e.High < low
	}
	switch {
	case e.N < 2 && !e.Exact:
		return Undecided
	case holds:
		return Holds
	case fails:
		return DoesNotHold
	case negligible(p, e):
		return NoDifference
	}
	return Undecided
}

// negligible tells whether the whole interval lies within the margin.
func negligible(p paper.Part, e statistics.Estimate) bool {
	return e.Low > p.Bound-p.Margin && e.High < p.Bound+p.Margin
}

// combine returns the verdict on a claim with these parts, of those that count. Parts on a stand-in do not: a claim
// without others is not run. A claim is undecided if one of its parts is and none contradicts it,
// however many hold. Parts that are not judged decide nothing; the claim is not judged if the others do not decide it
// either and none of them is undecided.
func combine(parts []JudgedPart) Verdict {
	count := map[Verdict]int{}
	counted := 0
	for _, p := range parts {
		if !p.onStandIn() {
			count[p.Verdict]++
			counted++
		}
	}
	switch {
	case counted == 0 || count[NotRun] > 0:
		return NotRun
	case count[Holds] == counted:
		return Holds
	case count[Holds] > 0 && count[DoesNotHold] > 0:
		return Partly
	case count[DoesNotHold] > 0:
		return DoesNotHold
	case count[Undecided] > 0:
		return Undecided
	case count[Holds] > 0 && count[NoDifference] > 0:
		return Partly
	case count[NoDifference] == counted:
		return NoDifference
	case count[NotJudged] > 0 && count[NoDifference] == 0:
		return NotJudged
	case count[NotAdapted] > 0 && count[NoDifference] == 0:
		return NotAdapted
	}
	return Undecided
}

// gate tells whether the comparisons of a panel are judged: Holds if one of its learners has learned. It looks at those
// of the part first.
func (j *Judged) gate(p paper.Part, shown map[string]shownPanel, e evidence) Verdict {
	panel := shown[p.Panel]
	if len(panel.floors) == 0 && panel.single == "" {
		return Holds
	}
	own := among(panel.learners, []string{p.Series, p.Base})
	var verdicts []Verdict
	for _, learner := range slices.Concat(own, without(panel.learners, own)) {
		verdicts = append(verdicts, j.learned(paper.Part{Panel: p.Panel, Series: learner}, shown, e))
		if slices.Contains(verdicts, Holds) {
			return Holds
		}
	}
	for _, v := range []Verdict{NotRun, NotAdapted} {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return NotJudged
}

// learned returns Holds if the series of a part exceeds every floor of the panel where the steps end and, if the panel
// asks for it, adapts to its tasks. It adds the comparisons to the claim's floors, each once.
func (j *Judged) learned(p paper.Part, shown map[string]shownPanel, e evidence) Verdict {
	panel := shown[p.Panel]
	compare := func(base string, statistic paper.Statistic) Verdict {
		p.Base, p.Statistic, p.Test = base, statistic, paper.Above
		i := slices.IndexFunc(j.Floors, func(f JudgedPart) bool { return f.Part == p })
		if i < 0 {
			i, j.Floors = len(j.Floors), append(j.Floors, judgePart(p, shown, e))
		}
		return j.Floors[i].Verdict
	}
	for _, floor := range panel.floors {
		switch compare(floor, paper.EndGain) {
		case NotRun:
			return NotRun
		case Holds:
		default:
			return NotJudged
		}
	}
	if panel.single == "" {
		return Holds
	}
	switch v := compare(panel.single, paper.Adapts); v {
	case NotRun, Holds:
		return v
	}
	return NotAdapted
}

// pValue is that of a claim's verdict: all parts hold, or all show no difference (the largest of theirs, as in an
// intersection-union test), or one part fails (the smallest of theirs, times the number of parts). Other verdicts
// decide nothing about the claim as a whole.
func pValue(j Judged) float64 {
	var values []float64
	parts := 0
	for _, p := range j.Parts {
		if p.onStandIn() {
			continue
		}
		parts++
		if p.Verdict == j.Verdict {
			values = append(values, p.P)
		}
	}
	switch {
	case len(values) == 0:
		return 0
	case j.Verdict == Holds || j.Verdict == NoDifference:
		return slices.Max(values)
	case j.Verdict == DoesNotHold:
		return min(1, slices.Min(values)*float64(parts))
	}
	return 0
}

// panelsOf lists the panels of parts, as "b,c".
func panelsOf(parts ...JudgedPart) string {
	var keys []string
	for _, p := range parts {
		keys = append(append(keys, p.Panel), strings.Split(p.Panels, "")...)
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), ",")
}
