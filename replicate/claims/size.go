package claims

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"tvps/data/statistics"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// Size is the sample that would decide claims about a panel. Its first stage is what is stored: mean and spread of
// these runs give the size, which is fixed before the rest is run and not changed afterwards. Then the panel is judged
// by the runs of both stages, with intervals at the level of a second look. The user may write another size into the
// file; it has no parts. It is judged at statistics.Level unless there were several looks at the panel.
type Size struct {
	Scale  experiment.Scale `json:"scale"`
	Figure string           `json:"figure"`
	Panel  string           `json:"panel"`
	Set    []string         `json:"set,omitempty"` // settings that override those of the scale
	Sample
	Series  []string    `json:"series,omitempty"` // of the panel, those that its parts compare; empty for all
	Parts   []SizedPart `json:"parts"`
	Minutes float64     `json:"minutes"` // of the missing steps, by the time that stored ones took

	// Looks counts the looks at the panel's runs up to the one with this size. 0: two with parts, one without.
	Looks int `json:"looks,omitempty"`

	Plan Panel `json:"-"` // the panel of the figure, without runs
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

// Sizes returns, for each panel of figures with undecided parts of claims, the cheapest size that should decide all of
// those for which one of at most 20 seeds does; cheapest for each part first, each an enlarged copy of an empty one. It
// computes nothing. unreachable are parts that no such size decides, none within the budget (0 for any), or whose size
// is among the fixed ones already, a sentence each.
func (a Archive) Sizes(judged []Figure, fixed []Size, empty Size, budget time.Duration) (sizes []Size,
	unreachable []string, err error) {
	for _, f := range judged {
		for _, p := range f.Panels {
			if p.Take > 0 || !p.Sampled() {
				continue
			}
			i := slices.IndexFunc(sizes, func(s Size) bool { return s.includes(p.Panel) })
			if i < 0 {
				i, sizes = len(sizes), append(sizes, empty)
			}
			more, err := a.extend(&sizes[i], p.Panel, f, budget, fixed)
			if err != nil {
				return nil, nil, err
			}
			unreachable = append(unreachable, more...)
			sizes = slices.DeleteFunc(sizes, func(s Size) bool { return len(s.Parts) == 0 })
		}
	}
	for i := range sizes {
		if sizes[i].Minutes, err = a.Minutes(sizes[i]); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(sizes, func(a, b Size) int {
		return cmp.Compare(a.Minutes/float64(len(a.Parts)), b.Minutes/float64(len(b.Parts)))
	})
	return sizes, unreachable, nil
}

// extend enlarges the size by what the undecided parts about a panel need. It returns a sentence for each part that no
// size within the budget decides, or whose size is fixed.
func (a Archive) extend(s *Size, p Panel, f Figure, budget time.Duration, fixed []Size) (unreachable []string, err error) {
	for _, c := range f.Claims {
		for _, part := range c.Parts {
			if part.Panel != p.Key || part.Verdict != Undecided || part.onStandIn() || part.Effect.N < 2 {
				continue
			}
			why := ": its size is fixed and not extended"
			if !slices.ContainsFunc(fixed, func(s Size) bool { return s.looksAt(p, needs(part.Part)) }) {
				if why, err = a.extendBy(s, part, c.ID, p, f, budget); err != nil {
					return nil, err
				}
			}
			if why != "" {
				unreachable = append(unreachable, fmt.Sprintf("%s, panel %s: %s%s", c.ID, p.Key, what(part.Part), why))
			}
		}
	}
	return unreachable, nil
}

// extendBy enlarges the size by what a part of a claim needs, or says why it does not; why is empty also where nothing
// can be said of steps and seeds.
func (a Archive) extendBy(s *Size, part JudgedPart, claim string, p Panel, f Figure,
	budget time.Duration) (why string, err error) {
	rows, _ := f.Evidence.of(part.Part)
	m, err := NewEffect(rows, part.Part, part.Metric.Name, true)
	if err != nil || m.grid == nil {
		return "", nil
	}
	sized := SizedPart{Claim: claim, What: what(part.Part), Mean: part.Effect.Mean,
		Half: part.Effect.High - part.Effect.Mean, Aim: safety * aim(part)}
	sample, half := cheapest(p, statistics.VariancesOf(m.grid), len(m.grid[0]) > 1, sized.Aim)
	if sized.Later = half; half > sized.Aim {
		return fmt.Sprintf(" is %s +- %.4f; +- %.4f would decide it, and %d seeds at every step give +- %.4f",
			statistics.Signed(3, sized.Mean), sized.Half, sized.Aim, mostSeeds, half), nil
	}
	// The size grows by the part, so its time is that of all its parts.
	larger := *s
	larger.Sample, larger.Parts = s.joined(sample), append(slices.Clone(s.Parts), sized)
	if len(p.Series) > len(s.Plan.Series) {
		larger.Figure, larger.Panel, larger.Plan = f.Name(), p.Key, p
	}
	larger.Series = among(larger.Plan.Series, slices.Concat(s.Series, needs(part.Part)))
	minutes, err := a.Minutes(larger)
	if err != nil {
		return "", err
	}
	if budget > 0 && minutes > budget.Minutes() {
		return fmt.Sprintf(": %d seeds at every %s step would take %.0f min", len(larger.Seeds),
			experiment.Ordinal(larger.Stride), minutes), nil
	}
	*s = larger
	return "", nil
}

// aim is the half width with which the interval around the present mean just decides the part, by the sign of its
// difference from the bound or by the margin.
func aim(p JudgedPart) float64 {
	distance := math.Abs(p.Effect.Mean - p.Bound)
	if p.Test == paper.Within {
		distance = math.Abs(math.Abs(p.Effect.Mean-p.Around) - p.Bound)
	}
	return max(distance, p.Margin-distance)
}

// cheapest returns the sample with the fewest cells whose half width is at most the wanted one, or the largest sample;
// steps tells whether more steps make a difference.
func cheapest(p Panel, v statistics.Variances, steps bool, wanted float64) (best Sample, half float64) {
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
			width := v.Half(lookLevel(2), n, k, 1-1/float64(stride))
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

// joined returns the sample with the seeds and steps of both.
func (a Sample) joined(b Sample) Sample {
	if len(a.Seeds) > len(b.Seeds) {
		b.Seeds = a.Seeds
	}
	if a.Stride > 0 {
		b.Stride = min(a.Stride, b.Stride)
	}
	return b
}

// shares tells whether a panel has the same runs as that of the size, but for their learners.
func (s Size) shares(p Panel) bool {
	return s.Plan.Settings == p.Settings && s.Plan.Measure == p.Measure
}

// look is Looks with its default.
func (s Size) look() int {
	if len(s.Parts) > 0 {
		return max(2, s.Looks)
	}
	return max(1, s.Looks)
}

// looksAt tells whether the size follows from a look at the panel's runs of some series.
func (s Size) looksAt(p Panel, series []string) bool {
	return s.shares(p) && subset(series, s.Plan.Series)
}

// serves tells whether the size has runs of some series of the panel.
func (s Size) serves(p Panel, series []string) bool {
	return s.looksAt(p, series) && (len(s.Series) == 0 || subset(series, s.Series))
}

// includes tells whether one of the two panels, that of the size and p, has all runs of both.
func (s Size) includes(p Panel) bool {
	return s.looksAt(p, p.Series) || s.shares(p) && subset(s.Plan.Series, p.Series)
}

// Minutes is what the missing steps of a size take, by the time that the stored ones of each learner took. Steps that
// tables have are not missing.
func (a Archive) Minutes(s Size) (float64, error) {
	stored := s.Plan
	if err := a.AddJobs(&stored); err != nil {
		return 0, err
	}
	seconds := map[string]float64{} // of a step, by series
	for _, job := range stored.Jobs {
		if r, err := a.read(job.Spec, stored); err == nil && len(r.Steps) > 0 {
			seconds[job.Series] = r.Provenance.Seconds / float64(len(r.Steps))
		}
	}
	p, err := a.Enlarged(s)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, job := range p.Jobs {
		state := a.Store.State(job.Spec, job.Steps)
		missing := state.Of - state.Steps
		if r, ok := a.Tables.read(job.Spec, p.Shown().Name, p.Figure); ok {
			missing = min(missing, len(job.Steps)-len(r.Only(job.Steps).Steps))
		}
		sum += float64(missing) * seconds[job.Series] / 60
	}
	return sum, nil
}

// Enlarged returns the panel of the size with its runs.
func (a Archive) Enlarged(s Size) (Panel, error) {
	p := s.Plan
	if len(s.Series) > 0 {
		p.Series = s.Series
	}
	return a.enlarge(p, s.Sample)
}

// Same tells whether two sizes have the same runs of the same panel.
func (s Size) Same(other Size) bool {
	key := func(s Size) string { return fmt.Sprint(s.Scale, s.Figure, s.Panel, s.Set, s.Sample, s.Series) }
	return key(s) == key(other)
}

// ReadSizes reads a file of sizes, and their panels; none if it does not exist.
func ReadSizes(path string, panelOf func(Size) (Panel, error)) ([]Size, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var sizes []Size
	if err == nil {
		err = json.Unmarshal(text, &sizes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it or remove it, with the sizes that it fixed", path, err)
	}
	for i := range sizes {
		if sizes[i].Plan, err = panelOf(sizes[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		even := sizes[i].Plan.Settings.Strides()
		if at := sizes[i].Stride; at > 0 && len(even) > 0 && at < slices.Max(even) && !slices.Contains(even, at) {
			return nil, fmt.Errorf("%s: %s, panel %s: every %s step meets the stream unevenly, and cannot stand for all: "+
				"strides that can are %v", path, sizes[i].Figure, sizes[i].Panel, experiment.Ordinal(at), even)
		}
	}
	return sizes, nil
}

// String says what the size is, what it should decide and what it takes.
func (s Size) String() string {
	text := fmt.Sprintf("%s, panel %s: ", s.Figure, s.Panel)
	if len(s.Series) > 0 {
		text += strings.Join(SeriesLabels(s.Series...), ", ") + ", "
	}
	text += "seeds " + FormatSeeds(s.Seeds, ",")
	if s.Stride > 0 {
		text += fmt.Sprintf(", every %s step", experiment.Ordinal(s.Stride))
	}
	text += fmt.Sprintf(", about %.0f min", s.Minutes)
	for _, p := range s.Parts {
		text += fmt.Sprintf("\n  %s: %s is %s +- %.4f, then about +- %.4f (%.4f would do)",
			p.Claim, p.What, statistics.Signed(3, p.Mean), p.Half, p.Later, p.Aim)
	}
	return text
}
