// Package claims judges the claims of the paper by stored runs: which runs serve a claim, the statistics and their
// intervals, the verdicts, and which further runs would decide. It draws nothing and computes no run.
package claims

import (
	"cmp"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/paper"
)

// Verdict says whether a claim of the paper holds here.
type Verdict string

const (
	Holds       Verdict = "holds"         // every part holds
	Partly      Verdict = "partly"        // some parts hold; others do not, or show no difference and none is undecided
	DoesNotHold Verdict = "does not hold" // no part holds, and at least one does not hold
	Undecided   Verdict = "undecided"     // no part does not hold, and an interval decides nothing
	NotRun      Verdict = "not run"       // a run that the claim needs is missing, or a stand-in replaces all its data

	// NoDifference is the verdict on a claimed difference of which the interval shows neither side, but that it is
	// smaller than the claim's margin.
	NoDifference Verdict = "no difference"

	// NotJudged is the verdict on a comparison of learners that is not made: the base is not above the protocol's floors.
	// It is no evidence, neither for a claim nor of an effect that is too small to be seen.
	NotJudged Verdict = "not judged: agents are not trained at this scale"

	// NotAdapted is the same where neither of the two does more in its tasks than the panel's policy for all of them.
	NotAdapted Verdict = "not judged: no agent adapts to its task"

	// AtTiny stands for a verdict where the scale is too small for one.
	AtTiny Verdict = "not judged: the scale tiny checks the program"
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
	Was     *Earlier     `json:"was,omitempty"`

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

// JudgedPart is a part with its verdict and effect. Effect is about all steps of the stream. OverSeeds is about the
// measured ones alone, if these are every second step or fewer.
type JudgedPart struct {
	paper.Part
	Metric    Metric               `json:"metric,omitzero"` // what the panel shows
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
		shown[p.Key] = shownPanel{p.Shown(), p.Series, p.Trained(), p.Sampled(), p.floors(), p.Single, p.Data()}
	}
	for _, c := range f.Claims {
		j := judgeClaim(c, shown, e)
		j.Figure = f.Name()
		out = append(out, j)
	}
	return out
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

// of returns the rows by which a part is judged, and the level of its intervals.
func (e evidence) of(p paper.Part) (rows []figures.Row, level float64) {
	return e.ofAll(p.Panel, needs(p))
}

// ofAll returns the rows by which series of a panel are judged together, and the level of their intervals.
func (e evidence) ofAll(key string, series []string) (rows []figures.Row, level float64) {
	for _, s := range e {
		if s.panel == key && subset(series, s.series) {
			return s.rows, s.level
		}
	}
	return nil, statistics.Level
}

// lookLevel is the level of intervals at the n-th look at runs of a panel, each of which was taken because those before
// had left something undecided: an n-th of the errors of the first look, which has [statistics.Level]. Two looks
// together err in at most 7.5%, three in at most 9.2% (TestLooks).
func lookLevel(n int) float64 {
	if n < 2 {
		return statistics.Level // without rounding
	}
	return 1 - (1-statistics.Level)/float64(n)
}

// Level is that of the panel's intervals.
func (p Panel) Level() float64 { return lookLevel(p.Looks) }

// shownPanel is what a panel shows.
type shownPanel struct {
	metric   Metric
	series   []string
	learners []string // of the series
	sample   bool     // whether its steps stand for those between them
	floors   []string // series that a learner must exceed, or no part of the panel is judged
	single   string   // that this learner must also exceed where this one earns least; "" for none
	data     string   // see paper.Panel.Data
}

// onStandIn tells whether a stand-in replaces the data of the part's panel, so that it decides nothing about its claim.
func (p JudgedPart) onStandIn() bool { return p.Metric.StandIn != "" }

// judgeClaim judges one claim, and its earlier wording if it has one; shown is what each panel shows. A part without
// values is not run. A part about a panel whose learners do not pass its gate is not judged.
func judgeClaim(c paper.Claim, shown map[string]shownPanel, e evidence) Judged {
	j := Judged{Claim: c}
	for _, p := range c.Parts {
		panel := shown[p.Panel]
		judge := func(p paper.Part) JudgedPart { return judgePart(p, panel, e) }
		if p.Statistic == paper.Regret {
			judge = func(p paper.Part) JudgedPart { return judgeRegret(p, shown, e) }
		}
		part, gate := judge(p), j.gate(p, panel, e)
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

// gate tells whether the comparisons of a panel are judged: Holds if one of its learners has learned. It looks at those
// of the part first.
func (j *Judged) gate(p paper.Part, panel shownPanel, e evidence) Verdict {
	if len(panel.floors) == 0 && panel.single == "" {
		return Holds
	}
	own := among(panel.learners, needs(p))
	var verdicts []Verdict
	for _, learner := range slices.Concat(own, without(panel.learners, own)) {
		verdicts = append(verdicts, j.learned(paper.Part{Panel: p.Panel, Series: learner}, panel, e))
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
func (j *Judged) learned(p paper.Part, panel shownPanel, e evidence) Verdict {
	compare := func(base string, statistic paper.Statistic) Verdict {
		p.Base, p.Statistic, p.Test = base, statistic, paper.Above
		i := slices.IndexFunc(j.Floors, func(f JudgedPart) bool { return f.Part == p })
		if i < 0 {
			i, j.Floors = len(j.Floors), append(j.Floors, judgePart(p, panel, e))
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

// judgePart judges one part, about the metric that its panel shows.
func judgePart(p paper.Part, panel shownPanel, e evidence) JudgedPart {
	p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
	part := JudgedPart{Part: p, Metric: panel.metric, Verdict: NotRun}
	part.Metric.Name = cmp.Or(p.Of, part.Metric.Name)
	rows, level := e.of(p)
	metric := part.Metric.Name
	if p.Statistic == paper.Adapts {
		rows, metric = hardest(rows, p, metric), hardestTasks
	}
	m, err := NewEffect(rows, p, metric, panel.sample)
	if err != nil {
		return part
	}
	if panel.sample {
		part.Stride = m.stride
	}
	part.decide(m, level)
	return part
}

// decide sets effect and verdict by a measurement at a level; or by the closed form, if there is one, which has no
// p-value.
func (part *JudgedPart) decide(m Effect, level float64) {
	part.Effect, part.Steps = m.Interval(level), m.steps
	if level != statistics.Level {
		part.Level = level
	}
	if m.stride > 1 {
		alone := m.overSeeds(level)
		part.OverSeeds = &alone
	}
	if known := part.Known; known != 0 {
		part.Effect, part.OverSeeds = statistics.Estimate{Mean: known, Low: known, High: known, N: part.Effect.N, Exact: true}, nil
	}
	part.Verdict = verdictOf(part.Part, part.Effect)
	if part.Verdict != Undecided && part.Known == 0 {
		p := m.Interval.PValue(func(e statistics.Estimate) bool { return verdictOf(part.Part, e) == part.Verdict })
		part.P = min(1, p*(1-statistics.Level)/(1-level))
	}
}

// judgeRegret judges a part with the statistic Regret. The distances of both learners from their rivals, in all panels,
// have simultaneous intervals (Bonferroni). The largest distance lies between the largest of their lower ends and the
// largest of their upper ends; the interval of the difference has the ends of both.
func judgeRegret(p paper.Part, shown map[string]shownPanel, e evidence) JudgedPart {
	p.Test = cmp.Or(p.Test, paper.Above)
	part := JudgedPart{Part: p, Metric: shown[p.Panel].metric, Verdict: NotRun}
	if len(shown[p.Panel].series) == 0 { // as with --panel c
		return part
	}
	level := statistics.Level
	behind := map[string][]statistics.Intervals{} // by learner
	for _, key := range p.Panels {
		panel := shown[string(key)]
		rows, own := e.ofAll(string(key), panel.series)
		level = max(level, own)
		for _, learner := range []string{p.Series, p.Base} {
			for _, rival := range shown[p.Panel].series {
				if rival == learner {
					continue
				}
				m, err := NewEffect(rows, paper.Part{Panel: string(key), Series: rival, Base: learner}, panel.metric.Name, panel.sample)
				if err != nil {
					return part
				}
				behind[learner] = append(behind[learner], m.Interval)
			}
		}
	}
	worst := func(of []statistics.Intervals, level float64) statistics.Estimate {
		out := of[0](level)
		for _, interval := range of[1:] {
			e := interval(level)
			out = statistics.Estimate{Mean: max(out.Mean, e.Mean), Low: max(out.Low, e.Low),
				High: max(out.High, e.High), N: min(out.N, e.N)}
		}
		return out
	}
	all := float64(2 * len(behind[p.Series]))
	part.decide(Effect{stride: 1, Interval: func(level float64) statistics.Estimate {
		level = 1 - (1-level)/all
		a, b := worst(behind[p.Series], level), worst(behind[p.Base], level)
		return statistics.Estimate{Mean: a.Mean - b.Mean, Low: a.Low - b.High, High: a.High - b.Low, N: min(a.N, b.N)}
	}}, level)
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

// Unjudged returns the claims with their numbers alone, for a scale that judges nothing.
func Unjudged(claims []Judged) []Judged {
	out := slices.Clone(claims)
	for i := range out {
		c := &out[i]
		c.P, c.Note, c.Was, c.Floors, c.Parts = 0, "", nil, nil, slices.Clone(c.Parts)
		c.Tested, c.Untested = nil, nil
		if c.Verdict != NotRun {
			c.Verdict = AtTiny
		}
		for k := range c.Parts {
			c.Parts[k].P = 0
			if c.Parts[k].Verdict != NotRun {
				c.Parts[k].Verdict = AtTiny
			}
		}
	}
	return out
}

// kind is the verdict, whatever the reason why agents are not compared.
func (v Verdict) kind() Verdict {
	if v == NotAdapted {
		return NotJudged
	}
	return v
}

// Shown returns the parts, and the floors where one of them is the reason of a verdict.
func (j Judged) Shown() []JudgedPart {
	if slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Verdict.kind() == NotJudged }) {
		return slices.Concat(j.Parts, j.Floors)
	}
	return j.Parts
}
