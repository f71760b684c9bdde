package export

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tvps/replicate/runs"
)

// identity are the settings that say what computed a run: runs that differ only in them are the same experiment.
var identity = []string{"protocol", "backend", "plugin"}

// seedIdentity are such settings that may differ from seed to seed.
var seedIdentity = []string{"checkpoint-hash"}

// Side is one of two folders that are compared.
type Side struct {
	Name  string            // for messages, as "A"
	Store *runs.Store       // the folder
	Where map[string]string // only runs with these values of settings, of "experiment" or of "learner"
}

// FilterError is returned for a Side.Where that no run passes.
type FilterError struct {
	Side, Name, Value string
	Names             []string // the settings of its runs
	Values            []string // the values of this setting; none if there is no such setting
}

// Error names the value that no run has.
func (e *FilterError) Error() string {
	return fmt.Sprintf("no run of %s has %s=%s", e.Side, e.Name, e.Value)
}

// Run names a run.
type Run struct {
	Experiment string            `json:"experiment"`
	Learner    string            `json:"learner"`
	Seed       int64             `json:"seed"`
	ID         string            `json:"run"`
	Settings   map[string]string `json:"settings"`
}

// Comparison is the result of Compare. Differences are B minus A.
type Comparison struct {
	RunsA  int     `json:"runs_a"` // runs that pass the filter
	RunsB  int     `json:"runs_b"`
	Groups []Group `json:"groups"` // by experiment, learner and settings
	OnlyA  []Run   `json:"only_a"` // runs without a partner
	OnlyB  []Run   `json:"only_b"`

	Problems []error `json:"-"` // unreadable and damaged files, each a sentence: left out
}

// Group holds pairs of runs that differ only in their seed.
type Group struct {
	Experiment string            `json:"experiment"` // empty if the sides' differ
	Learner    string            `json:"learner"`    // empty if the sides' differ
	Settings   map[string]string `json:"settings"`   // settings that the sides share by definition
	A          map[string]string `json:"a"`          // those that they need not share, of each side
	B          map[string]string `json:"b"`
	Differing  map[string]int    `json:"differing,omitempty"` // seeds whose seedIdentity differs, by setting
	Seeds      []int64           `json:"seeds"`
	StepsOnlyA int               `json:"steps_only_a"` // steps of a run that its partner lacks, over all pairs
	StepsOnlyB int               `json:"steps_only_b"`
	Metrics    []Difference      `json:"metrics"`

	pairs []pair
}

// pair are two runs of the same experiment.
type pair struct{ a, b runs.Spec }

// Compare pairs the finished runs of two folders and measures their differences.
//
// A run's partner is the run itself (the same ID) if the other folder has it. Each other run pairs with every run that
// has the same experiment, learner, seed and settings, apart from protocol, backend, plugin, checkpoint and the
// settings that a Where names: with Where "epochs" 20 and 5, runs that differ in their epochs pair. Pairs are grouped
// over seeds; seeds with other backends form groups of their own.
//
// Errors: a *FilterError, a folder that cannot be listed, ctx cancelled. Without any pair there is no error.
func Compare(ctx context.Context, a, b Side) (*Comparison, error) {
	out := &Comparison{Groups: []Group{}, OnlyA: []Run{}, OnlyB: []Run{}}
	specsA, err := out.list(a)
	if err != nil {
		return nil, err
	}
	specsB, err := out.list(b)
	if err != nil {
		return nil, err
	}
	out.RunsA, out.RunsB = len(specsA), len(specsB)
	m := newMatcher(a, b)
	pairs, onlyA, onlyB := m.match(specsA, specsB)
	out.OnlyA, out.OnlyB = append(out.OnlyA, onlyA...), append(out.OnlyB, onlyB...)
	for _, group := range m.groups(pairs) {
		problems, err := group.measure(ctx, a.Store, b.Store)
		for _, problem := range problems {
			out.problem(problem)
		}
		if err != nil {
			return nil, err
		}
		if len(group.Seeds) > 0 {
			out.Groups = append(out.Groups, group)
		}
	}
	return out, nil
}

// problem adds a file that is left out, only once: several pairs may need it.
func (c *Comparison) problem(err error) {
	if !slices.ContainsFunc(c.Problems, func(p error) bool { return p.Error() == err.Error() }) {
		c.Problems = append(c.Problems, err)
	}
}

// list returns the runs of a side that pass its filter.
func (c *Comparison) list(side Side) ([]runs.Spec, error) {
	specs, problems, err := side.Store.Finished()
	if err != nil {
		return nil, err
	}
	for _, problem := range problems {
		c.problem(problem)
	}
	for _, name := range slices.Sorted(maps.Keys(side.Where)) {
		all := specs
		specs = slices.DeleteFunc(slices.Clone(specs), func(s runs.Spec) bool {
			value, ok := fields(s)[name]
			return !ok || value != side.Where[name]
		})
		if len(specs) == 0 {
			return nil, filterError(side, name, all)
		}
	}
	return specs, nil
}

func filterError(side Side, name string, specs []runs.Spec) error {
	names, values := map[string]bool{}, map[string]bool{}
	for _, s := range specs {
		for n, value := range fields(s) {
			names[n] = true
			if n == name {
				values[value] = true
			}
		}
	}
	return &FilterError{side.Name, name, side.Where[name], slices.Sorted(maps.Keys(names)),
		slices.Sorted(maps.Keys(values))}
}

// fields are the settings of a run with its experiment and learner.
func fields(s runs.Spec) map[string]string {
	out := map[string]string{}
	maps.Copy(out, s.Settings)
	out["experiment"], out["learner"] = s.Experiment, s.Learner
	return out
}
