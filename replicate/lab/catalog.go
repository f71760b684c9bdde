package lab

import (
	"slices"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/usage"
)

// Catalog holds the figures that a lab can make, and the protocols of their scenarios.
type Catalog struct {
	Figures   []paper.Figure // by number
	Protocols []*experiment.Protocol
}

// PaperCatalog has the paper's figures. The protocols are passed in, as this package imports none.
func PaperCatalog(protocols ...*experiment.Protocol) Catalog {
	return Catalog{Figures: paper.Figures(), Protocols: protocols}
}

// Figure returns the figure of that number.
func (c Catalog) Figure(number int) (f paper.Figure, ok bool) {
	i := slices.IndexFunc(c.Figures, func(f paper.Figure) bool { return f.Number == number })
	if i < 0 {
		return f, false
	}
	return c.Figures[i], true
}

// protocolOf returns the protocol of a scenario. If none has it, it returns the first one, whose At reports the
// scenario.
func (c Catalog) protocolOf(scenario string) *experiment.Protocol {
	for _, p := range c.Protocols {
		if slices.Contains(p.Scenarios(), scenario) {
			return p
		}
	}
	return c.Protocols[0]
}

// FiguresAt lists the figures of which a panel has the scale, or all figures if none has.
func (c Catalog) FiguresAt(scale experiment.Scale) []paper.Figure {
	out := slices.DeleteFunc(slices.Clone(c.Figures), func(f paper.Figure) bool { return !c.hasScale(scale, f.Panels...) })
	if len(out) == 0 {
		return c.Figures
	}
	return out
}

// hasScale tells whether the scenario of one of the panels has a scale.
func (c Catalog) hasScale(scale experiment.Scale, panels ...paper.Panel) bool {
	return slices.ContainsFunc(panels, func(p paper.Panel) bool {
		_, err := c.protocolOf(p.Scenario).At(p.Scenario, scale)
		return err == nil
	})
}

// ownScale is small for a panel that lacks a scale next to panels that have it, and empty for others.
func (c Catalog) ownScale(p paper.Panel, f paper.Figure, scale experiment.Scale) experiment.Scale {
	if c.hasScale(scale, f.Panels...) && !c.hasScale(scale, p) {
		return experiment.Small
	}
	return ""
}

// Setup returns the settings of a scenario at a scale, with overrides of the form name=value on top. All its errors
// are usage errors.
func (c Catalog) Setup(scenario string, scale experiment.Scale, overrides []string) (experiment.Setup, error) {
	s, err := c.protocolOf(scenario).At(scenario, scale)
	if err != nil {
		return nil, usage.Error(err)
	}
	if s, err = experiment.Apply(s, overrides); err != nil {
		return nil, usage.Error(err)
	}
	if slices.ContainsFunc(overrides, func(set string) bool { return strings.HasPrefix(set, "scenario=") }) {
		return nil, usage.Errorf("the scenario of a panel cannot be set: choose another panel, or declare one " +
			"as CONTRIBUTING.md says")
	}
	if err := s.Validate(); err != nil {
		return nil, usage.Error(err)
	}
	return s, nil
}

// Learners lists the learners of the figures' protocols, sorted.
func (c Catalog) Learners(figures ...paper.Figure) []string {
	var out []string
	for _, f := range figures {
		for _, p := range f.Panels {
			out = append(out, c.protocolOf(p.Scenario).Learners()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// supported drops the options that another protocol has and this one does not: see Options.AllFigures.
func (c Catalog) supported(p *experiment.Protocol, options []string,
	has func(p *experiment.Protocol, option string) bool) []string {
	return slices.DeleteFunc(options, func(option string) bool {
		return !has(p, option) &&
			slices.ContainsFunc(c.Protocols, func(other *experiment.Protocol) bool { return has(other, option) })
	})
}

func hasSetting(p *experiment.Protocol, override string) bool {
	name, _, _ := strings.Cut(override, "=")
	return slices.ContainsFunc(p.Fields(), func(f experiment.Field) bool { return f.Name == name })
}

func hasLearner(p *experiment.Protocol, name string) bool { return slices.Contains(p.Learners(), name) }
