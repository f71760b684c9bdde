package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/data/artifact"
)

// MergeReport says what became of the runs of a merge.
type MergeReport struct {
	Added     int // runs that the folder did not know
	Extended  int // runs that got steps, or that another folder has finished
	Unchanged int // runs that had all steps already

	// Problems are runs and files that were left out, completely or in part, each one sentence: a run that is being
	// computed, a step with different rows in two files, a *DamagedError, a file that cannot be read.
	Problems []error
}

// Merge adds the runs of the folders from to the folder into: their union, step by step. A run that is finished in any
// folder becomes a finished one with all known steps. A run that is finished in none gets the finished steps of all,
// and computing it continues there. Rows do not depend on the order of from, and a second merge changes nothing. Notes
// of failures are not copied.
//
// Nothing is written to the folders from. A run is skipped, and named in the report, if a process is computing it in
// any of the folders, or if a step has different rows in two of them. The damaged file of a finished run is left out;
// of an unfinished run's damaged file the steps before the damage count.
//
// Each run is written in one atomic step. The error is for what concerns all runs: a folder that cannot be listed or
// written, or ctx cancelled (*InterruptedError); a second call continues.
func Merge(ctx context.Context, into *Store, from []*Store) (MergeReport, error) {
	m := merger{into: into, from: from}
	specs, err := m.list()
	if err != nil {
		return m.report, err
	}
	for i, spec := range specs {
		if ctx.Err() != nil {
			return m.report, &InterruptedError{Done: i, Total: len(specs), What: "merged"}
		}
		if i == 0 || specs[i-1].Experiment != spec.Experiment {
			if err := into.checkWritable(spec.Experiment); err != nil {
				return m.report, err
			}
		}
		if err := m.run(spec); err != nil {
			return m.report, err
		}
	}
	return m.report, nil
}

// merger is one call of Merge.
type merger struct {
	into   *Store
	from   []*Store
	report MergeReport
}

// list returns the runs of all folders from, each once, sorted by experiment.
func (m *merger) list() ([]Spec, error) {
	seen := map[string]Spec{}
	for _, store := range m.from {
		// In this order a run that is finished meanwhile is not missed.
		for _, list := range []func() ([]Spec, []error, error){store.Unfinished, store.Finished} {
			specs, problems, err := list()
			if err != nil {
				return nil, err
			}
			for _, err := range problems {
				m.problem(err)
			}
			for _, spec := range specs {
				seen[spec.Experiment+"/"+spec.ID()] = spec
			}
		}
	}
	var out []Spec
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, seen[key])
	}
	return out, nil
}

// run merges one run. The error is for a folder that cannot be written.
func (m *merger) run(spec Spec) error {
	for _, store := range m.from {
		if _, held := store.holder(spec); held {
			m.busy(spec, store)
			return nil
		}
	}
	held, err := m.into.claim(spec, claimPauses...)
	if err != nil {
		return err
	}
	if held == nil {
		m.busy(spec, m.into)
		return nil
	}
	defer held.release()
	files, known, ok := m.read(spec)
	if !ok || len(files) == 0 {
		return nil
	}
	for _, store := range m.from {
		if err := m.into.copyAttachments(store, spec); err != nil {
			return err
		}
	}
	finished := slices.ContainsFunc(files, func(f *source) bool { return f.finished })
	news := 0 // steps that the first file lacks
	for _, f := range files[1:] {
		news += len(f.rows)
	}
	switch {
	case !known:
		m.report.Added++
	case news > 0 || finished && !files[0].finished:
		m.report.Extended++
	default:
		m.report.Unchanged++
		return nil
	}
	return m.into.saveMerged(spec, files, finished)
}

// busy reports a run that a living process is computing in a folder.
func (m *merger) busy(spec Spec, store *Store) {
	m.problem(fmt.Errorf("%s (%s) is being computed in %s: not merged, merge again when it is done", spec, spec.ID(),
		store.dir))
}

// problem adds to the report, each damaged file only once.
func (m *merger) problem(err error) {
	var damaged, other *DamagedError
	if !errors.As(err, &damaged) || !slices.ContainsFunc(m.report.Problems, func(err error) bool {
		return errors.As(err, &other) && other.Path == damaged.Path
	}) {
		m.report.Problems = append(m.report.Problems, err)
	}
}

// read reads the files of a run, first those in the folder into; known tells whether it has one. Each step is left to
// the first file that has it. ok is false if two files have different rows of a step, or if a file in the folder into
// cannot be read: it must not be replaced unread.
func (m *merger) read(spec Spec) (files []*source, known, ok bool) {
	owners := map[int]*source{}
	for i, store := range append([]*Store{m.into}, m.from...) {
		read := store.Read
		if i == 0 {
			read = store.load // moves a damaged file to quarantine
		}
		list, problems := store.sources(spec, read)
		for _, err := range problems {
			m.problem(err)
			if i == 0 && !errors.Is(err, ErrMissing) {
				return nil, false, false
			}
		}
		for _, f := range list {
			if err := f.leaveOwned(spec, owners); err != nil {
				m.problem(err)
				return nil, false, false
			}
		}
		files = append(files, list...)
		known = known || i == 0 && len(list) > 0
	}
	return files, known, true
}

// source is one file of a run.
type source struct {
	path     string
	finished bool
	rows     map[int][]Row
	sessions []Provenance
	took     map[int]float64 // seconds spent on each step, of an unfinished run
	seconds  float64         // spent on the steps that rows has
}

// leaveOwned removes the steps that another file owns and becomes the owner of the others. A file's seconds are counted
// in proportion to the steps that are left. It returns an error if a step has other rows than its owner's.
func (f *source) leaveOwned(spec Spec, owners map[int]*source) error {
	all := len(f.rows)
	for _, t := range slices.Sorted(maps.Keys(f.rows)) {
		owner := owners[t]
		if owner == nil {
			owners[t] = f
			continue
		}
		if !slices.EqualFunc(owner.rows[t], f.rows[t], sameRow) {
			return fmt.Errorf("%s has other values at step %d in %s than in %s: not merged, compare the folders and remove "+
				"one of the two files", spec, t, f.path, owner.path)
		}
		delete(f.rows, t)
	}
	if all > 0 {
		f.seconds *= float64(len(f.rows)) / float64(all)
	}
	return nil
}

// sameRow compares bits: zero and minus zero differ.
func sameRow(a, b Row) bool {
	return a.T == b.T && a.Metric == b.Metric && math.Float64bits(a.Value) == math.Float64bits(b.Value)
}

// sources reads the files of a run. It reads that of the unfinished run first, as its process may finish the run
// meanwhile, but lists it last. Damage and files that cannot be read are problems.
func (s *Store) sources(spec Spec, read func(Spec) (*Result, error)) (out []*source, problems []error) {
	path := s.partialPath(spec)
	part, err := s.unfinished(spec)
	if err != nil {
		problems = append(problems, err)
	}
	if part.damaged {
		reason := "a line in it is not as it was written"
		problems = append(problems, &DamagedError{Path: path, Reason: reason, Steps: len(part.rows)})
	}
	switch result, err := read(spec); {
	case err == nil:
		out = append(out, &source{path: s.donePath(spec), finished: true, rows: result.byStep(),
			sessions: []Provenance{result.Provenance}, seconds: result.Provenance.Seconds})
	case !isPlainMissing(err):
		problems = append(problems, err)
	}
	if len(part.rows) > 0 {
		out = append(out, &source{path: path, rows: part.rows, sessions: part.sessions, took: part.took,
			seconds: part.seconds})
	}
	return out, problems
}

// saveMerged writes the steps of all files: as a finished run, or as an unfinished one with a session for each file.
// The caller holds the run's lock.
func (s *Store) saveMerged(spec Spec, files []*source, finished bool) error {
	files = slices.DeleteFunc(files, func(f *source) bool { return len(f.rows) == 0 })
	if finished {
		var sessions []Provenance
		rows, seconds := map[int][]Row{}, 0.0
		for _, f := range files {
			maps.Copy(rows, f.rows)
			sessions = append(sessions, f.sessions...)
			seconds += f.seconds
		}
		return s.save(newResult(spec, sessionsAsOne(sessions, seconds), rows))
	}
	text := jsonLine(partialLine{Spec: &spec})
	for _, f := range files {
		session := sessionsAsOne(f.sessions, 0)
		text = append(text, sealed(partialLine{Session: &session})...)
		for _, t := range slices.Sorted(maps.Keys(f.rows)) {
			text = append(text, stepLines(t, f.rows[t], f.took[t])...)
		}
	}
	path := s.partialPath(spec)
	if err := artifact.Replace(path, text, 0o644); err != nil {
		return &WriteError{"file of finished steps", path, err}
	}
	return nil
}

// sessionsAsOne is one provenance for several sessions: the last one's, with the start of the first and the commits of
// all.
func sessionsAsOne(sessions []Provenance, seconds float64) Provenance {
	if len(sessions) == 0 {
		return Provenance{}
	}
	slices.SortStableFunc(sessions, func(a, b Provenance) int { return a.Start.Compare(b.Start) })
	last := sessions[len(sessions)-1]
	last.Commits = nil // following collects the sessions' own
	return last.following(sessions, seconds)
}
