package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Panel is a panel of a figure with its settings and runs.
type Panel struct {
	paper.Panel
	Figure   string // its name, as "fig03"
	Protocol *experiment.Protocol
	Settings experiment.Setup
	Scale    experiment.Scale // of the settings, where the scenario lacks that of the figure; else empty
	Seeds    []int64
	Looks    int     // of the sample, see paper.Sample
	First    []int64 // see paper.Sample
	Narrow   bool    // the sample serves claims about Series alone, and another one of the same panel is drawn
	Jobs     []runs.Wanted
	Source   experiment.Source
}

// At returns the panel with a declared sample, without runs. All its errors are usage errors.
func (p Panel) At(s paper.Sample) (Panel, error) {
	var err error
	if p.Seeds, err = ParseSeeds(s.Seeds); err != nil {
		return p, err
	}
	if s.First != "" {
		if p.First, err = ParseSeeds(s.First); err != nil {
			return p, err
		}
	}
	if p.Looks, p.Narrow = s.Looks, len(s.Series) > 0; p.Narrow {
		p.Series = s.Series
	}
	if s.Stride > 0 {
		if p.Settings, err = p.Settings.With("stride", strconv.Itoa(s.Stride)); err != nil {
			return p, usage.Error(err)
		}
	}
	if err := p.Settings.Validate(); err != nil {
		return p, usage.Error(err)
	}
	return p, nil
}

// ownScale says that the panel has another scale than its figure; empty for the same.
func (p Panel) ownScale() string {
	if p.Scale == "" {
		return ""
	}
	return fmt.Sprintf("The scenario %s lacks the figure's scale: it is at the scale %s", p.Scenario, p.Scale)
}

// Sample is how much of a panel is run: seeds, and the distance of the steps.
type Sample struct {
	Seeds  []int64 `json:"seeds"`
	Stride int     `json:"stride,omitempty"` // 0 where steps stand for no others
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

// NarrowOf returns the narrow samples of a panel.
func NarrowOf(panels []Collected, key string) []Collected {
	return slices.DeleteFunc(slices.Clone(panels), func(c Collected) bool { return c.Key != key || !c.Narrow })
}

// Note says which claims are judged by a narrow sample.
func (p Panel) Note() string {
	return fmt.Sprintf("The claims about %s are judged by %s, which are more than are drawn.",
		strings.Join(looks.Labels(p.Series...), " and "), p.Sample())
}

// Level is that of the panel's intervals. The n-th look at its runs was taken because those before had left something
// undecided. Its intervals have an n-th of the errors of the first look's, which have [statistics.Level]. Two looks
// together err in at most 7.5%, three in 9.2%, four in 10.4% (TestLooks).
func (p Panel) Level() float64 {
	if p.Looks < 2 {
		return statistics.Level // without rounding
	}
	return 1 - (1-statistics.Level)/float64(p.Looks)
}

// Metric names what a panel shows.
type Metric struct {
	Name    string
	StandIn string // what files say if other data replace the paper's, as "stand-in, not CLEAR"; else empty
}

// String is the metric in tables and files, as "accuracy (stand-in, not CLEAR)".
func (m Metric) String() string { return m.Name + inParentheses(m.StandIn) }

// MarshalText is String.
func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what String wrote.
func (m *Metric) UnmarshalText(text []byte) error {
	name, standIn, _ := strings.Cut(string(text), " (")
	*m = Metric{name, strings.TrimSuffix(standIn, ")")}
	return nil
}

// inParentheses returns " (text)", or nothing for no text.
func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// Shown returns the metric that the panel shows.
func (p Panel) Shown() Metric {
	return Metric{cmp.Or(p.Metric, p.Measure, p.Protocol.Measure), p.Source.StandIn}
}

// Open tells whether the panel can show any learner: it shows the measure of the protocol.
func (p Panel) Open() bool { return p.Shown().Name == p.Protocol.Measure }

// Sampled tells whether measured steps stand for those between them, see [experiment.Setup].
func (p Panel) Sampled() bool { return p.Settings.Sampled() }

// Trained lists the panel's series that learn: without the references.
func (p Panel) Trained() []string { return without(p.Series, p.References) }

// floors are those of the protocol that are references of the panel.
func (p Panel) floors() []string { return among(p.Protocol.Floors, p.References) }

// Collected is a panel with those of its runs that have every step.
type Collected struct {
	Panel
	Results map[string]*runs.Result // by identity, with the steps of the panel alone
}

// CollectAll collects panels from a report.
func CollectAll(panels []Panel, report runs.Report) (out []Collected) {
	for _, p := range panels {
		out = append(out, Collect(p, report.Results))
	}
	return out
}

// Collect returns a panel with those of some runs that it has and that have every step.
func Collect(p Panel, results map[string]*runs.Result) Collected {
	c := Collected{Panel: p, Results: map[string]*runs.Result{}}
	for _, job := range p.Jobs {
		id := job.Spec.ID()
		if whole, ok := results[id]; ok {
			if wanted := whole.Only(job.Steps); len(wanted.Steps) == len(job.Steps) {
				c.Results[id] = wanted
			}
		}
	}
	return c
}

// lacking is true of the series of which a run is missing.
func (c Collected) lacking() map[string]bool {
	out := map[string]bool{}
	for _, job := range c.Jobs {
		if c.Results[job.Spec.ID()] == nil {
			out[job.Series] = true
		}
	}
	return out
}

// Rows returns what the runs of the whole series measured of the metric that the panel shows: a series is judged and
// drawn by all its seeds or not at all.
func (c Collected) Rows() []figures.Row {
	return c.whole(func(metric string) bool { return metric == c.Shown().Name })
}

// Judging are Rows, with the metrics that notes tell, and the returns in single tasks where claims ask for those.
func (c Collected) Judging() []figures.Row {
	return c.whole(func(metric string) bool {
		return metric == c.Shown().Name || c.Single != "" && c.Protocol.IsTask(metric) ||
			slices.ContainsFunc(c.Noted, func(n paper.Noted) bool { return n.Name == metric })
	})
}

// whole returns what the runs of the whole series measured of some metrics.
func (c Collected) whole(wanted func(metric string) bool) []figures.Row {
	lacking := c.lacking() // once for all rows: identities are hashes
	return slices.DeleteFunc(c.RowsOf(wanted), func(r figures.Row) bool { return lacking[r.Series] })
}

// RowsOf returns what the runs measured of some metrics.
func (c Collected) RowsOf(wanted func(metric string) bool) []figures.Row {
	var rows []figures.Row
	for _, job := range c.Jobs {
		run := c.Results[job.Spec.ID()]
		if run == nil {
			continue
		}
		for _, r := range run.Rows {
			if wanted(r.Metric) {
				rows = append(rows, figures.Row{Panel: c.Key, Series: job.Series, Seed: job.Spec.Seed,
					T: r.T, Metric: r.Metric, Value: r.Value})
			}
		}
	}
	return rows
}

// OtherMetrics returns what the runs of the panel's series measured besides what it shows, if the protocol has tasks. A
// panel of another metric has the runs of one that shows the measure.
func (c Collected) OtherMetrics() []figures.Row {
	if c.Protocol.IsTask == nil || c.Metric != "" {
		return nil
	}
	rows := c.RowsOf(func(metric string) bool { return metric != c.Shown().Name })
	return slices.DeleteFunc(rows, func(r figures.Row) bool { return !slices.Contains(c.Series, r.Series) })
}

// Written returns rows of the panel as tables and files have them, which name a stand-in.
func (p Panel) Written(rows []figures.Row) []figures.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Metric = Metric{out[i].Metric, p.Source.StandIn}.String()
	}
	return out
}

// Complete returns the panel with the seeds of which no run is missing.
func (c Collected) Complete() Collected {
	return c.of(slices.DeleteFunc(slices.Clone(c.Seeds), func(seed int64) bool {
		return slices.ContainsFunc(c.Jobs, func(job runs.Wanted) bool {
			return job.Spec.Seed == seed && c.Results[job.Spec.ID()] == nil
		})
	}))
}

// of returns the panel with some of its seeds.
func (c Collected) of(seeds []int64) Collected {
	p := c.Panel
	p.Seeds = seeds
	p.Jobs = slices.DeleteFunc(slices.Clone(p.Jobs), func(job runs.Wanted) bool { return !slices.Contains(seeds, job.Spec.Seed) })
	return Collect(p, c.Results)
}

// Look returns the panel with the seeds of its first look, while runs of further ones are missing.
func (c Collected) Look() Collected {
	if len(c.First) == 0 || len(c.lacking()) == 0 {
		return c
	}
	return c.of(c.First)
}

// Drawable returns the panel without the series that lack runs, and their names. If the first series, with which the
// others are compared, or all others lack some, it is the panel with its complete seeds; ok is false without any.
func (c Collected) Drawable() (drawn Collected, absent []string, ok bool) {
	if drawn, absent, ok = c.drawable(); !ok {
		return c.Complete().drawable()
	}
	return drawn, absent, ok
}

func (c Collected) drawable() (drawn Collected, absent []string, ok bool) {
	drawn = c
	rows := c.Rows()
	drawn.Series = slices.DeleteFunc(slices.Clone(c.Series), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r figures.Row) bool { return r.Series == name })
	})
	return drawn, without(c.Series, drawn.Series), slices.Contains(drawn.Series, c.Series[0]) &&
		len(drawn.Series) >= min(len(c.Series), 2)
}

// among returns the names that are among others.
func among(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(others, name) })
}

// without returns those that are not among others.
func without[T comparable](some, others []T) []T {
	return slices.DeleteFunc(slices.Clone(some), func(one T) bool { return slices.Contains(others, one) })
}

// ParseSeeds parses seeds such as "0,1,2", "0-7" or "9,0-3". All its errors are usage errors.
func ParseSeeds(text string) ([]int64, error) {
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseInt(from, 10, 32)
		b, errB := strconv.ParseInt(to, 10, 32)
		if errA != nil || errB != nil || a < 0 || b < a || b-a > 1000 {
			return nil, usage.Errorf("%q is neither a seed nor a rising range of at most 1,001 seeds, such as 0-7", part)
		}
		for s := a; s <= b; s++ {
			if slices.Contains(out, s) {
				return nil, usage.Errorf("%q names seed %d twice", text, s)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// FormatSeeds lists seeds, four or more consecutive ones as a range: "0,1,2" and "0-7".
func FormatSeeds(seeds []int64, comma string) string {
	var parts []string
	for i := 0; i < len(seeds); {
		last := i
		for last+1 < len(seeds) && seeds[last+1] == seeds[last]+1 {
			last++
		}
		if last-i < 3 {
			last = i
			parts = append(parts, fmt.Sprint(seeds[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", seeds[i], seeds[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, comma)
}
