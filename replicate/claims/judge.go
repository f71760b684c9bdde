// Package claims judges the claims of the paper by stored runs: which runs serve a claim, the statistics and their
// intervals, the verdicts, and which further runs would decide. It draws nothing and computes no run.
package claims

import (
	"cmp"
	"slices"
	"strings"

	"tvps/data/statistics"
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

// judgePart judges one part, about the metric that its panel shows.
func judgePart(p paper.Part, panel shownPanel, e evidence) JudgedPart {
	p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
	part := JudgedPart{Part: p, Metric: panel.metric, Verdict: NotRun}
	part.Metric.Name = cmp.Or(p.Of, part.Metric.Name)
	rows, level := e.of(p.Panel, needs(p))
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
		rows, own := e.of(string(key), panel.series)
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
