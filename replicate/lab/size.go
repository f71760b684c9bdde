package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// Size is the sample that would decide claims about a panel. Its first stage is what is stored: mean and spread of
// these runs give the size, which is fixed before the rest is run and not changed afterwards. Then the panel is judged
// by the runs of both stages, with intervals at secondLook. The user may ask for another size; it has no parts. It is
// judged at figures.Level unless there was a second look at the panel.
type Size struct {
	Scale  experiment.Scale `json:"scale"`
	Figure string           `json:"figure"`
	Panel  string           `json:"panel"`
	Set    []string         `json:"set,omitempty"` // settings that override those of the scale
	Sample
	Series  []string    `json:"series,omitempty"` // of the panel, those that its parts compare; empty for all
	Parts   []SizedPart `json:"parts"`
	Minutes float64     `json:"minutes"` // of the missing steps, by the time that stored ones took
	SHA256  string      `json:"sha256"`  // of all the above, in the file

	panel PanelPlan
}

// SizedPart is an undecided part of a claim, with what to expect of the size.
type SizedPart struct {
	Claim string  `json:"claim"`
	What  string  `json:"what"`
	Mean  float64 `json:"mean"`
	Half  float64 `json:"half"`  // half width of the interval now
	Aim   float64 `json:"aim"`   // .8 of the half width that decides the part if the mean stays as it is
	Later float64 `json:"later"` // half width that the size should give
}

const (
	mostSeeds = 20
	safety    = .8 // means change when seeds and steps are added
)

// Sizes returns, for each panel of the supervised figures with undecided parts, the cheapest size that should decide
// all of those for which one of at most 20 seeds does; cheapest for each part first. spent are those of parts whose
// size is fixed already: they say what would be needed now, and are not to be computed. It computes nothing. far are
// parts that no such size decides, or none within the budget (0 for any), a sentence each.
func (l *Lab) Sizes(ctx context.Context, o Options, budget time.Duration) (sizes, spent []Size, far []string,
	err error) {
	v, all, err := l.verify(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	fixed, err := l.fixed()
	if err != nil {
		return nil, nil, nil, err
	}
	isSpent := func(p PanelPlan, part paper.Part) bool {
		return slices.ContainsFunc(fixed, func(s Size) bool { return s.looksAt(p, needs(part)) })
	}
	sizes, far, err = l.needed(v, all, Size{Scale: o.Scale, Set: o.Overrides}, budget,
		func(p PanelPlan, part paper.Part) bool { return !isSpent(p, part) })
	if err != nil {
		return nil, nil, nil, err
	}
	spent, more, err := l.needed(v, all, Size{Scale: o.Scale, Set: o.Overrides}, 0, isSpent)
	return sizes, spent, append(far, more...), err
}

// needed returns the sizes for the undecided parts that are wanted, each an enlarged copy of an empty one.
func (l *Lab) needed(v Verification, all []stored, empty Size, budget time.Duration,
	wanted func(PanelPlan, paper.Part) bool) (sizes []Size, far []string, err error) {
	for _, s := range all {
		for _, p := range s.plan {
			if p.Take > 0 || len(p.Settings.Strides()) == 0 {
				continue
			}
			i := slices.IndexFunc(sizes, func(s Size) bool { return s.includes(p) })
			size := empty
			if i >= 0 {
				size = sizes[i]
			}
			before := len(size.Parts)
			more, err := l.extend(&size, p, v.Of(s.Name), s.evidence, budget, wanted)
			if err != nil {
				return nil, nil, err
			}
			far = append(far, more...)
			if len(size.Parts) == before {
				continue
			}
			if len(p.Series) > len(size.panel.Series) {
				size.Figure, size.Panel, size.panel = s.Name, p.Key, p
			}
			if i >= 0 {
				sizes[i] = size
			} else {
				sizes = append(sizes, size)
			}
		}
	}
	for i := range sizes {
		if sizes[i].Minutes, err = l.minutes(sizes[i]); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(sizes, func(a, b Size) int {
		return cmp.Compare(a.Minutes/float64(len(a.Parts)), b.Minutes/float64(len(b.Parts)))
	})
	return sizes, far, nil
}

// extend enlarges the size by what the undecided parts about a panel need, those that are wanted. It returns a sentence
// for each part that no size within the budget decides.
func (l *Lab) extend(s *Size, p PanelPlan, claims []Judged, e evidence, budget time.Duration,
	wanted func(PanelPlan, paper.Part) bool) (far []string, err error) {
	for _, c := range claims {
		for _, part := range c.Parts {
			if part.Panel != p.Key || part.Verdict != Undecided || part.onStandIn() || part.Effect.N < 2 ||
				!wanted(p, part.Part) {
				continue
			}
			rows, _ := e.of(part.Part)
			m, err := measure(rows, part.Part, part.Metric, true)
			if err != nil || m.grid == nil {
				continue
			}
			sized := SizedPart{Claim: c.ID, What: what(part.Part), Mean: part.Effect.Mean,
				Half: part.Effect.High - part.Effect.Mean, Aim: safety * aim(part)}
			sample, half := cheapest(p, figures.VariancesOf(m.grid), len(m.grid[0]) > 1, sized.Aim)
			if sized.Later = half; half > sized.Aim {
				far = append(far, fmt.Sprintf("%s, panel %s: %s is %s +- %.4f; +- %.4f would decide it, and %d seeds at "+
					"every step give +- %.4f", c.ID, p.Key, sized.What, signed(sized.Mean), sized.Half, sized.Aim,
					mostSeeds, half))
				continue
			}
			// The size grows by the part, so its time is that of all its parts.
			larger := Size{panel: p, Sample: s.larger(sample)}
			if len(s.panel.Series) > len(p.Series) {
				larger.panel = s.panel
			}
			larger.Series = slices.DeleteFunc(slices.Clone(larger.panel.Series), func(name string) bool {
				return !slices.Contains(s.Series, name) && !slices.Contains(needs(part.Part), name)
			})
			minutes, err := l.minutes(larger)
			if err != nil {
				return nil, err
			}
			if budget > 0 && minutes > budget.Minutes() {
				far = append(far, fmt.Sprintf("%s, panel %s: %s: %d seeds at every %s step would take %.0f min", c.ID, p.Key,
					sized.What, len(larger.Seeds), experiment.Ordinal(larger.Stride), minutes))
				continue
			}
			s.Sample, s.Series = larger.Sample, larger.Series
			s.Parts = append(s.Parts, sized)
		}
	}
	return far, nil
}

// aim is the half width with which the interval around the present mean just decides the part, by the sign of its
// difference from the bound or by the margin.
func aim(p JudgedPart) float64 {
	distance := abs(p.Effect.Mean - p.Bound)
	if p.Test == paper.Within {
		distance = abs(abs(p.Effect.Mean) - p.Bound)
	}
	return max(distance, p.Margin-distance)
}

func abs(v float64) float64 { return max(v, -v) }

// cheapest returns the sample with the fewest cells whose half width is at most the wanted one, or the largest sample;
// steps tells whether more steps make a difference.
func cheapest(p PanelPlan, v figures.Variances, steps bool, wanted float64) (best Sample, half float64) {
	strides := p.Settings.Strides()
	if !steps {
		strides = strides[len(strides)-1:]
	}
	fewest := 0
	for _, stride := range strides {
		for n := max(2, len(p.Seeds)); n <= mostSeeds; n++ {
			s := Sample{Seeds: firstSeeds(n), Stride: stride}
			q, err := p.with(s)
			if err != nil {
				continue
			}
			k := len(q.Settings.PlannedSteps())
			width := v.Half(secondLook, n, k, 1-1/float64(stride))
			switch cells := n * k; {
			case width <= wanted && (half > wanted || fewest == 0 || cells < fewest):
				best, half, fewest = s, width, cells
			case fewest == 0 || half > wanted && width < half:
				best, half, fewest = s, width, cells
			}
		}
	}
	return best, half
}

func firstSeeds(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// larger returns the sample with the seeds and steps of both.
func (a Sample) larger(b Sample) Sample {
	if len(a.Seeds) > len(b.Seeds) {
		b.Seeds = a.Seeds
	}
	if a.Stride > 0 {
		b.Stride = min(a.Stride, b.Stride)
	}
	return b
}

// shares tells whether a panel has the same runs as that of the size, but for their learners.
func (s Size) shares(p PanelPlan) bool {
	return s.panel.Settings == p.Settings && s.panel.Measure == p.Measure
}

// about tells whether the panel of the size has all series of another panel of the same runs.
func (s Size) about(p PanelPlan) bool { return s.looksAt(p, p.Series) }

// looksAt tells whether the size follows from a look at the panel's runs of some series.
func (s Size) looksAt(p PanelPlan, series []string) bool {
	return s.shares(p) && subset(series, s.panel.Series)
}

// serves tells whether the size has runs of some series of the panel.
func (s Size) serves(p PanelPlan, series []string) bool {
	return s.looksAt(p, series) && (len(s.Series) == 0 || subset(series, s.Series))
}

// includes tells whether one of the two panels, that of the size and p, has all runs of both.
func (s Size) includes(p PanelPlan) bool {
	return s.about(p) || s.shares(p) && subset(s.panel.Series, p.Series)
}

// minutes is what the missing steps of a size take, by the time that the stored ones of each learner took. Steps that
// tables have are not missing.
func (l *Lab) minutes(s Size) (float64, error) {
	seconds := map[string]float64{} // of a step, by series
	stored := s.panel
	if len(stored.Jobs) == 0 {
		if err := stored.AddJobs(l); err != nil {
			return 0, err
		}
	}
	for _, job := range stored.Jobs {
		if r, err := l.read(job.Spec, stored.metric()); err == nil && len(r.Steps) > 0 {
			seconds[job.Series] = r.Provenance.Seconds / float64(len(r.Steps))
		}
	}
	p, err := s.plan(l)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, job := range p.Jobs {
		state := l.Store.State(job.Spec, job.Steps)
		missing := state.Of - state.Steps
		if r, ok := l.tables.read(job.Spec, p.metric()); ok {
			missing = min(missing, len(job.Steps)-len(r.Only(job.Steps).Steps))
		}
		sum += float64(missing) * seconds[job.Series] / 60
	}
	return sum, nil
}

// plan returns the panel of the size with its runs.
func (s Size) plan(l *Lab) (PanelPlan, error) {
	p, err := s.panel.with(s.Sample)
	if len(s.Series) > 0 {
		p.Series = s.Series
	}
	if err == nil {
		err = p.AddJobs(l)
	}
	return p, err
}

// String says what the size is, what it should decide and what it takes.
func (s Size) String() string {
	text := fmt.Sprintf("%s, panel %s: ", s.Figure, s.Panel)
	if len(s.Series) > 0 {
		text += strings.Join(labels(s.Series), ", ") + ", "
	}
	text += "seeds " + seedText(s.Seeds, ",")
	if s.Stride > 0 {
		text += fmt.Sprintf(", every %s step", experiment.Ordinal(s.Stride))
	}
	text += fmt.Sprintf(", about %.0f min", s.Minutes)
	for _, p := range s.Parts {
		text += fmt.Sprintf("\n  %s: %s is %s +- %.4f, then about +- %.4f (%.4f would do)",
			p.Claim, p.What, signed(p.Mean), p.Half, p.Later, p.Aim)
	}
	return text
}
