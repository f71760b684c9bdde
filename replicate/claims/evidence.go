package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Sample is how much of a panel is run: seeds, and the distance of the steps.
type Sample struct {
	Seeds  []int64 `json:"seeds"`
	Stride int     `json:"stride,omitempty"` // 0 for the panel's own

	level float64 // of the intervals; 0 for statistics.Level
}

// Evidence is what claims are judged by.
type Evidence struct {
	drawn   []figures.Row             // what the panels draw
	samples map[string][]judgedSample // by panel, the larger samples by which parts of claims are judged
}

// judgedSample is a panel at a larger sample than it draws, with those of its series that are judged by it.
type judgedSample struct {
	Collected
	rows     []figures.Row
	compared [][]string // the sets of series that are judged by it, each as needs lists them
	about    []string   // those of claims, for people, if other parts are judged by other samples
	level    float64    // of the intervals; 0 for statistics.Level
	drawn    bool       // whether the panel draws all of these runs, so that only the level is another
}

// AsDrawn is the evidence of panels whose claims are judged by what they draw.
func AsDrawn(panels []Collected) Evidence {
	var e Evidence
	for _, c := range panels {
		e.drawn = append(e.drawn, c.judging()...)
	}
	return e
}

// Declared is the evidence of panels that have the samples that are declared for their claims.
func Declared(panels []Collected) Evidence {
	e := Evidence{samples: map[string][]judgedSample{}}
	for _, c := range panels {
		s := judgedSample{Collected: c, rows: c.judging(), level: c.level(), drawn: !c.Narrow}
		if c.Narrow {
			s.about = []string{strings.Join(SeriesLabels(c.Series...), " and ")}
			e.samples[c.Key] = slices.Insert(e.samples[c.Key], 0, s)
			continue
		}
		e.drawn = append(e.drawn, s.rows...)
		if c.Looks > 1 {
			e.samples[c.Key] = append(e.samples[c.Key], s)
		}
	}
	return e
}

// Evidence returns what the claims about panels of a figure are judged by. Each part of a claim is judged by the
// largest sample of which the runs of its own series are stored whole and whose size was declared before it was run:
// the panel's own, one that another figure declares for these series under the same settings, or one that was fixed for
// them (Size). No size follows from a verdict, but those of planned further looks, which have intervals at lookLevel.
// Errors: files that cannot be read.
func (a Archive) Evidence(f paper.Figure, panels []Collected, declared []Panel, fixed []Size) (Evidence, error) {
	e := AsDrawn(panels)
	e.samples = map[string][]judgedSample{}
	for _, c := range panels {
		claimed, noted := seriesSets(f, c.Panel)
		found, err := a.largest(c, slices.Concat(claimed, noted), declared, fixed)
		if err != nil {
			return Evidence{}, err
		}
		for _, s := range found {
			if s.keep(c.Panel, claimed) {
				e.samples[c.Key] = append(e.samples[c.Key], *s)
			}
		}
	}
	return e, nil
}

// seriesSets lists the sets of series of a panel that the parts of the figure's claims need, and the further ones of
// its floors and notes, with all series together.
func seriesSets(f paper.Figure, p Panel) (claimed, noted [][]string) {
	var sets [][]string
	add := func(set ...string) {
		if !contains(sets, set) && subset(set, p.Series) {
			sets = append(sets, set)
		}
	}
	var parts []paper.Part // about the panel
	for _, c := range f.Claims {
		parts = append(parts, c.Parts...)
	}
	parts = slices.DeleteFunc(parts, func(part paper.Part) bool { return part.Panel != p.Key })
	for _, part := range parts {
		add(needs(part)...)
	}
	n := len(sets)
	add(p.Series...)
	for _, part := range parts {
		base := cmp.Or(part.Base, part.Series)
		for _, floor := range p.floors() {
			add(base, floor)
		}
		if p.Single != "" {
			add(part.Series, p.Single)
			add(base, p.Single)
		}
	}
	if last := len(p.Series) - 1; len(p.Spans) > 0 {
		for _, base := range p.Series[:last] {
			add(p.Series[last], base)
		}
	}
	return sets[:n], sets[n:]
}

func contains(sets [][]string, set []string) bool {
	return slices.ContainsFunc(sets, func(other []string) bool { return slices.Equal(set, other) })
}

// largest finds the samples by which sets of a panel's series are judged, where that is not the panel's own. A smaller
// one serves series of which runs of the panel's own are missing.
func (a Archive) largest(own Collected, sets [][]string, declared []Panel, fixed []Size) ([]*judgedSample, error) {
	p := own.Panel
	var out []*judgedSample
	known := map[string]*judgedSample{} // by sample
	for _, set := range sets {
		for _, s := range samples(p, set, declared, fixed) {
			if more := s.against(p); own.Whole(set...) && (more < 0 || more == 0 && s.level == 0) {
				break
			}
			key := fmt.Sprint(s.Seeds, s.Stride, s.level)
			if known[key] == nil {
				enlarged, err := a.enlarge(p, s)
				if err != nil {
					return nil, err
				}
				c, err := a.Load(enlarged)
				if err != nil {
					return nil, err
				}
				known[key] = &judgedSample{Collected: c, level: s.level}
			}
			found := known[key]
			if !found.Whole(set...) {
				continue
			}
			found.drawn = own.Whole(set...) && s.against(p) == 0
			if found.compared = append(found.compared, set); len(found.compared) == 1 {
				out = append(out, found)
			}
			break
		}
	}
	return out, nil
}

// enlarge returns the panel at a sample, with its runs.
func (a Archive) enlarge(p Panel, s Sample) (Panel, error) {
	p, err := p.with(s)
	if err == nil {
		err = a.AddJobs(&p)
	}
	return p, err
}

// keep leaves the series that are judged by the sample, with their runs and rows. claimed are the sets of series of all
// parts of claims about the panel p. It is false for a sample by which nothing is judged.
func (s *judgedSample) keep(p Panel, claimed [][]string) bool {
	judged := slices.DeleteFunc(slices.Clone(claimed), func(set []string) bool { return !contains(s.compared, set) })
	if len(judged) == 0 && (len(claimed) > 0 && len(p.Spans) == 0 || s.Sample().against(p) < 0) {
		return false
	}
	if len(judged) < len(claimed) {
		for _, set := range judged {
			s.about = append(s.about, strings.Join(SeriesLabels(set...), " and "))
		}
	}
	s.Series = among(p.Series, slices.Concat(s.compared...))
	s.Jobs = slices.DeleteFunc(s.Jobs, func(job runs.Wanted) bool { return !slices.Contains(s.Series, job.Series) })
	s.Collected = Collect(s.Panel, s.Results)
	s.rows = s.judging()
	return true
}

// of returns the rows by which a part is judged, and the level of its intervals, 0 for statistics.Level.
func (e Evidence) of(p paper.Part) (rows []figures.Row, level float64) {
	return e.ofAll(p.Panel, needs(p))
}

// ofAll returns the rows by which series of a panel are judged together, and the level of their intervals.
func (e Evidence) ofAll(key string, series []string) (rows []figures.Row, level float64) {
	for _, s := range e.samples[key] {
		if contains(s.compared, series) || s.compared == nil && subset(series, s.Series) {
			return s.rows, s.level
		}
	}
	return e.drawn, 0
}

// Effect computes a part's statistic from its rows, those of some steps (from, to) alone. level is that of its
// intervals, 0 for statistics.Level. Errors are those of NewEffect.
func (e Evidence) Effect(p Panel, part paper.Part, from, to int) (m Effect, level float64, err error) {
	rows, level := e.of(part)
	within := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.T < from || r.T > to })
	m, err = NewEffect(within, part, p.Shown().Name, p.Sampled())
	return m, level, err
}

// Larger returns the rows by which parts about a panel are judged, each once, where these are others than it draws.
func (e Evidence) Larger(p Panel) []figures.Row {
	var out []figures.Row
	for _, s := range e.samples[p.Key] {
		if !s.drawn {
			out = append(out, s.rows...)
		}
	}
	slices.SortStableFunc(out, func(a, b figures.Row) int {
		return cmp.Or(cmp.Compare(slices.Index(p.Series, a.Series), slices.Index(p.Series, b.Series)),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.T, b.T))
	})
	return slices.Compact(out)
}

// Absent returns the judged runs of series that a drawn panel lacks.
func (e Evidence) Absent(drawn Collected) (out []Collected) {
	for _, s := range e.samples[drawn.Key] {
		c := s.Collected
		c.Series = without(c.Series, drawn.Series)
		out = append(out, c)
		drawn.Series = slices.Concat(drawn.Series, c.Series)
	}
	return out
}

// Runs returns the runs that panels draw together with those of larger samples, by identity.
func (e Evidence) Runs(panels []Collected) map[string]*runs.Result {
	out := map[string]*runs.Result{}
	for _, c := range panels {
		maps.Copy(out, c.Results)
		for _, s := range e.samples[c.Key] {
			maps.Copy(out, s.Results)
		}
	}
	return out
}

// Deciding returns a panel at the largest sample by which all of its series are judged: what a picture shows. It is the
// panel itself if no larger one is stored.
func (e Evidence) Deciding(c Collected) Collected {
	for _, s := range e.samples[c.Key] {
		if contains(s.compared, c.Series) {
			return s.Collected
		}
	}
	return c
}

// Notes says by which larger samples than the drawn one the claims about a panel are judged, if by any.
func (e Evidence) Notes(drawn Panel) []string {
	var out []string
	for _, s := range e.samples[drawn.Key] {
		if contains(s.compared, drawn.Series) || s.compared == nil && s.drawn {
			continue
		}
		what := "The claims"
		if len(s.about) > 0 {
			what += " about " + strings.Join(s.about, ", ")
		}
		by := s.Sample().String()
		if s.Sample().against(drawn) > 0 {
			by += ", which are more than are drawn"
		}
		out = append(out, fmt.Sprintf("%s are judged by %s.", what, by))
	}
	return out
}

// Sample is what is run of the panel.
func (p Panel) Sample() Sample {
	s := Sample{Seeds: p.Seeds}
	if p.Sampled() {
		s.Stride = stride(p.Settings.PlannedSteps())
	}
	return s
}

// String is the sample for people, as "8 seeds, every 2nd step".
func (s Sample) String() string {
	text := runs.Plural(len(s.Seeds), "seed")
	switch s.Stride {
	case 0:
	case 1:
		text += ", every step"
	default:
		text += fmt.Sprintf(", every %s step", experiment.Ordinal(s.Stride))
	}
	return text
}

// samples lists the samples of some series of a panel, the largest first: those that other figures declare if they are
// larger than the panel's own, and all that are fixed. A panel that takes some of its figure's seeds takes these of all
// samples.
func samples(p Panel, series []string, declared []Panel, fixed []Size) []Sample {
	var out []Sample
	for _, q := range declared {
		if q.Settings == p.Settings && q.Measure == p.Measure && q.Take == 0 && subset(series, q.Series) {
			if s := (Sample{Seeds: q.Seeds}); s.against(p) > 0 {
				out = append(out, s)
			}
		}
	}
	looks := 1 // the most that were taken at these runs: the level is that of the last, of a size that the user wrote, too
	for _, s := range fixed {
		if s.looksAt(p, series) {
			looks = max(looks, s.look())
		}
	}
	for _, s := range fixed {
		if s.serves(p, series) {
			if looks > 1 {
				s.level = lookLevel(looks)
			}
			out = append(out, s.Sample)
		}
	}
	if p.Take > 0 {
		out = slices.DeleteFunc(out, func(s Sample) bool { return !subset(p.Seeds, s.Seeds) })
		for i := range out {
			out[i].Seeds = p.Seeds
		}
	}
	out = slices.DeleteFunc(out, func(s Sample) bool {
		_, err := p.with(s)
		return err != nil
	})
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(b.against(p), a.against(p)) })
	return out
}

func subset[T comparable](some, of []T) bool {
	return !slices.ContainsFunc(some, func(one T) bool { return !slices.Contains(of, one) })
}

// cells is the number of seeds times that of steps.
func (p Panel) cells() int { return len(p.Seeds) * len(p.Settings.PlannedSteps()) }

// against returns how many more seeds times steps the sample has than the panel itself.
func (s Sample) against(p Panel) int {
	q, _ := p.with(s) // a sample that does not fit is never used
	return q.cells() - p.cells()
}

// with returns the panel with the sample instead of its own, without runs.
func (p Panel) with(s Sample) (Panel, error) {
	p.Seeds, p.Jobs = s.Seeds, nil
	if s.Stride > 0 {
		var err error
		if p.Settings, err = p.Settings.With("stride", fmt.Sprint(s.Stride)); err != nil {
			return p, err
		}
	}
	return p, p.Settings.Validate()
}
