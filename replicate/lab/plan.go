package lab

import (
	"cmp"
	"slices"
	"strings"

	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/usage"
)

// Panels resolves the options of a figure into the settings of the chosen panels, without runs. All its errors are
// usage errors.
func (c Catalog) Panels(f paper.Figure, o Options) ([]claims.Panel, error) {
	if err := cmp.Or(checkPanels(f, o.Panels), o.checkJudged()); err != nil {
		return nil, err
	}
	var out []claims.Panel
	for _, panel := range f.Panels {
		chosen := len(o.Panels) == 0 || slices.Contains(o.Panels, panel.Key)
		p := claims.Panel{Panel: panel, Figure: f.Name(), Protocol: c.protocolOf(panel.Scenario), Seeds: o.Seeds,
			Scale: c.ownScale(panel, f, o.Scale)}
		scale := cmp.Or(p.Scale, o.Scale)
		overrides, learners := c.applicable(panel, f, o, o.Overrides, chosen), c.applicable(panel, f, o, o.Learners, chosen)
		if o.AllFigures {
			overrides = c.supported(p.Protocol, overrides, hasSetting)
			learners = c.supported(p.Protocol, learners, hasLearner)
		}
		var err error
		if len(p.Seeds) == 0 {
			if p.Seeds, err = claims.ParseSeeds(f.SeedsFor(scale)); err != nil {
				return nil, err
			}
		}
		if p.Settings, err = c.Setup(p.Scenario, scale, slices.Concat(p.Set, overrides)); err != nil {
			return nil, err // also if the panel is not chosen, so that a wrong b.epochs=x or learner b.x is found
		}
		if own := c.applicable(panel, f, o, o.Learners, false); len(own) > 0 && !p.Open() {
			return nil, usage.Errorf("panel %s shows %s: it takes no learner %s.%s", p.Key, p.Shown().Name, p.Key, own[0])
		}
		if err := choose(&p, learners); err != nil {
			return nil, err
		}
		if chosen {
			samples, err := samplesOf(p, o)
			if err != nil {
				return nil, err
			}
			out = append(out, samples...)
		} else if left := slices.Concat(overrides, learners); len(left) > 0 && !o.AllFigures {
			return nil, usage.Errorf("%s.%s is for panel %s, which --panel leaves out", p.Key, left[0], p.Key)
		}
	}
	return out, nil
}

// samplesOf returns the panel with the seeds and steps that the options choose. With o.Judged these are the declared
// ones, and copies of the panel with the samples of some of its series follow.
func samplesOf(p claims.Panel, o Options) ([]claims.Panel, error) {
	out := []claims.Panel{p}
	for _, s := range p.Judged {
		if !o.Judged || s.Scale != cmp.Or(p.Scale, o.Scale) {
			continue
		}
		sampled, err := p.At(s)
		if err != nil {
			return nil, err
		}
		if len(s.Series) == 0 {
			out[0] = sampled
		} else if !slices.ContainsFunc(s.Series, func(name string) bool { return !slices.Contains(p.Series, name) }) {
			out = append(out, sampled)
		}
	}
	for i := range out {
		if p.Take > 0 {
			out[i].Seeds = out[i].Seeds[:min(p.Take, len(out[i].Seeds))]
		}
	}
	return out, nil
}

// checkPanels returns a usage error if the figure lacks one of the panels.
func checkPanels(f paper.Figure, keys []string) error {
	var known []string
	for _, p := range f.Panels {
		known = append(known, p.Key)
	}
	return usage.Known(f.Name()+" has no panel", keys, known)
}

// choose sets the series of the panel and checks them. An open panel shows the given learners, if any.
// All its errors are usage errors.
func choose(p *claims.Panel, learners []string) error {
	if len(learners) > 0 && p.Open() {
		p.Series = withBase(p.Protocol.Base, learners)
		if len(p.Series) < 2 && !p.Absolute {
			return usage.Errorf("panel %s: %s is the line 0; name another learner to compare with it (%s)",
				p.Key, looks.Of(p.Protocol.Base).Label, strings.Join(p.Protocol.Learners(), ", "))
		}
	}
	if len(p.References) > 0 {
		p.Series = withBase(p.Series[0], slices.Concat(p.Series, p.References))
	}
	for _, name := range p.Series {
		if err := p.Settings.CheckSeries(name, p.Measure); err != nil {
			return usage.Errorf("panel %s: %w", p.Key, err)
		}
	}
	return nil
}

// withBase returns the base followed by the other learners, each once.
func withBase(base string, learners []string) []string {
	out := []string{base}
	for _, name := range learners {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// applicable returns the options (overrides or learners) for a panel: "epochs=5" applies to all chosen panels, and
// "b.epochs=5" to panel b only, of any figure if there are several, where it has precedence.
func (c Catalog) applicable(p paper.Panel, f paper.Figure, o Options, options []string, chosen bool) []string {
	figures := []paper.Figure{f}
	if o.AllFigures {
		figures = append(figures, c.Figures...)
	}
	var keys, all, own []string
	for _, f := range figures {
		for _, q := range f.Panels {
			keys = append(keys, q.Key)
		}
	}
	for _, option := range options {
		key, rest, ok := strings.Cut(option, ".")
		isPanel := ok && slices.Contains(keys, key)
		switch {
		case !isPanel && chosen:
			all = append(all, option)
		case isPanel && key == p.Key:
			own = append(own, rest)
		}
	}
	return slices.Concat(all, own)
}

// Plan returns Catalog.Panels with the runs of every panel. Errors are those of Panels, and missing data or
// checkpoints.
func (l *Lab) Plan(f paper.Figure, o Options) ([]claims.Panel, error) {
	plan, err := l.Panels(f, o)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		if err := l.AddJobs(&plan[i]); err != nil {
			return nil, err
		}
	}
	return plan, nil
}
