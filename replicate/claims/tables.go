package claims

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Tables are the runs of drawn figures, as figures/gallery has them: each with its identity and provenance, and those
// of its rows that a figure draws or judges. They stand in for runs that a store lacks.
type Tables struct {
	Dir  string // the folder that was read
	byID map[string]*tableRun
}

// tableRun is a run in tables. A row has a value for each figure with it: another processor rounds the same run
// otherwise.
type tableRun struct {
	spec       runs.Spec
	provenance runs.Provenance
	values     map[metricStep]map[string]float64 // then by figure
	drawn      bool                              // in a figure
}

// metricStep is a row of a run. A metric may have more steps than another.
type metricStep struct {
	metric string
	t      int
}

// ReadTables reads the figures that have a folder of their name in dir. Runs of an identity that is not
// that of their settings, as those of earlier versions, are left out. Errors: no such folder, files that cannot be
// read or do not match their checksums, and rows of no run.
func ReadTables(declared []paper.Figure, dir string) (*Tables, error) {
	t := &Tables{Dir: dir, byID: map[string]*tableRun{}}
	if at, err := os.Stat(dir); err != nil || !at.IsDir() {
		return nil, fmt.Errorf("there is no folder %s: name one such as figures/gallery", dir)
	}
	for _, f := range declared {
		err := t.AddFigure(f, filepath.Join(dir, f.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, f.Name()), err)
		}
	}
	if len(t.byID) == 0 {
		return nil, fmt.Errorf("%s has no run of a drawn figure of this version: name the folder above the figures' own, such as figures/gallery", dir)
	}
	return t, nil
}

// AddFigure adds the runs of a folder with a drawn figure; dir may have any name. Without one it is fs.ErrNotExist.
func (t *Tables) AddFigure(f paper.Figure, dir string) error {
	var names, judged []string
	for _, p := range f.Panels {
		stem := figures.Stem(f.Name(), p.Key)
		names = append(names, stem+figures.DrawnTable, stem+figures.MetricsTable, stem+figures.OthersTable)
		judged = append(judged, stem+figures.JudgedTable)
	}
	return t.add(dir, f.Name(), true, names, judged)
}

// Add adds the runs of the table NAME.csv in a folder that [figures.WriteTable] wrote. A folder without it adds none.
func (t *Tables) Add(dir, name string) error {
	if err := t.add(dir, name, false, []string{name + ".csv"}, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// add adds the runs of a folder's provenance with the rows of those of its tables that it has. A panel's judged rows
// can be those of other runs than the drawn ones, as of another backend.
func (t *Tables) add(dir, figure string, drawn bool, names, judged []string) error {
	folder, err := figures.OpenFolder(dir)
	if err != nil {
		return err
	}
	text, err := folder.Read(figures.ProvenanceFile)
	if err != nil {
		return err
	}
	var record Record
	if err := json.Unmarshal(text, &record); err != nil {
		return fmt.Errorf("%s cannot be read: %w", figures.ProvenanceFile, err)
	}
	known := map[seriesSeed]*tableRun{}
	read := func(records []RunRecord, names []string) error {
		for _, r := range records {
			run := t.run(r)
			run.drawn = run.drawn || drawn
			known[seriesSeed{r.Panel, r.Series, r.Provenance.Seed}] = run
		}
		for _, name := range names {
			rows, err := folder.Rows(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = addRows(known, rows, figure)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	if err := read(record.Runs, names); err != nil {
		return err
	}
	var others []RunRecord
	for _, sample := range record.Judged {
		others = append(others, sample.Runs...)
	}
	return read(others, judged)
}

// seriesSeed is a run of a panel.
type seriesSeed struct {
	panel, series string
	seed          int64
}

// run returns the run of a record, without rows if it is new. A run whose identity is not that of its settings does not
// become one of the tables'.
func (t *Tables) run(r RunRecord) *tableRun {
	experiment, rest, _ := strings.Cut(r.Run, "/")
	learner, _, _ := strings.Cut(rest, " ")
	spec := runs.Spec{Experiment: experiment, Learner: learner, Seed: r.Provenance.Seed, Settings: r.Provenance.Config}
	if has := t.byID[r.ID]; has != nil {
		return has
	}
	one := &tableRun{spec: spec, provenance: r.Provenance, values: map[metricStep]map[string]float64{}}
	if spec.ID() == r.ID {
		t.byID[r.ID] = one
	}
	return one
}

// addRows adds the rows of a figure to the runs of their panels.
func addRows(known map[seriesSeed]*tableRun, rows []figures.Row, figure string) error {
	for _, row := range rows {
		r := known[seriesSeed{row.Panel, row.Series, row.Seed}]
		if r == nil {
			return fmt.Errorf("%s of seed %d is no run of %s", row.Series, row.Seed, figures.ProvenanceFile)
		}
		var m Metric
		_ = m.UnmarshalText([]byte(row.Metric)) // never an error
		at := metricStep{m.Name, row.T}
		if r.values[at] == nil {
			r.values[at] = map[string]float64{}
		}
		r.values[at][figure] = row.Value
	}
	return nil
}

// Specs lists the runs, by identity.
func (t *Tables) Specs() []runs.Spec {
	if t == nil {
		return nil
	}
	var out []runs.Spec
	for _, id := range slices.Sorted(maps.Keys(t.byID)) {
		out = append(out, t.byID[id].spec)
	}
	return out
}

// Drawn tells whether a drawn figure has the run of this identity.
func (t *Tables) Drawn(id string) bool {
	run := t.get(id)
	return run != nil && run.drawn
}

// get returns the run of this identity, nil if there is none.
func (t *Tables) get(id string) *tableRun {
	if t == nil {
		return nil
	}
	return t.byID[id]
}

// Others returns what the own tables of a panel's figure have of its runs at steps that neither it nor its narrow
// samples have: readings and notebooks use them, so that a folder that is drawn again from itself keeps them.
func (t *Tables) Others(c Collected, narrow []Collected) (out []figures.Row) {
	has := map[string][]int{} // steps, by run
	for _, sample := range append(narrow, c) {
		for _, job := range sample.Jobs {
			has[job.Spec.ID()] = append(has[job.Spec.ID()], job.Steps...)
		}
	}
	for _, job := range c.Jobs {
		id := job.Spec.ID()
		run := t.get(id)
		if run == nil || c.Results[id] == nil {
			continue
		}
		for _, at := range run.places() {
			value, own := run.values[at][c.Figure]
			if own && at.metric == c.Shown().Name && !slices.Contains(has[id], at.t) {
				out = append(out, figures.Row{Panel: c.Key, Series: job.Series, Seed: job.Spec.Seed, T: at.t,
					Metric: at.metric, Value: value})
			}
		}
	}
	return out
}

// places lists the rows of the run by metric and step.
func (r *tableRun) places() []metricStep {
	return slices.SortedFunc(maps.Keys(r.values), func(a, b metricStep) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.t, b.t))
	})
}

// read returns the run with all its rows, and the steps that have one of the metric. A step is that of the figure's own
// tables, if they have it: learners that are compared come from one processor. ok is false if there is no run.
func (t *Tables) read(spec runs.Spec, metric, figure string) (result *runs.Result, ok bool) {
	r := t.get(spec.ID())
	if r == nil {
		return nil, false
	}
	result = &runs.Result{Spec: r.spec, Provenance: r.provenance}
	for _, at := range r.places() {
		if at.metric == metric {
			result.Steps = append(result.Steps, at.t)
		}
		copies := r.values[at]
		value, own := copies[figure]
		if !own {
			value = copies[slices.Max(slices.Collect(maps.Keys(copies)))]
		}
		result.Rows = append(result.Rows, runs.Row{T: at.t, Metric: at.metric, Value: value})
	}
	return result, true
}
