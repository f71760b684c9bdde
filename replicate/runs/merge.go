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

	// Problems are runs and files that were left out, completely or in part, each one sentence: a *BusyError, a
	// *ConflictError, a *DamagedError, or a file that cannot be read.
	Problems []error
}

// BusyError names a run that a living process is computing.
type BusyError struct {
	Spec Spec
	Dir  string // the folder in which it is being computed
}

// Error names the run and the folder.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s (%s) is being computed in %s: not merged, merge again when it is done", e.Spec,
		e.Spec.ID(), e.Dir)
}

// ConflictError names a step with different rows in two files of the same run.
type ConflictError struct {
	Spec Spec
	T    int
	A, B string // the files
}

// Error names the run, the step and both files.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s has other values at step %d in %s than in %s: not merged, compare the folders and remove "+
		"one of the two files", e.Spec, e.T, e.B, e.A)
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
	m := merger{into: into, from: from, damaged: map[string]bool{}}
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
	into    *Store
	from    []*Store
	damaged map[string]bool // paths that are in the report
	report  MergeReport
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
			m.problem(&BusyError{spec, store.dir})
			return nil
		}
	}
	release, err := m.into.claim(spec)
	if err != nil {
		return err
	}
	if release == nil {
		m.problem(&BusyError{spec, m.into.dir})
		return nil
	}
	defer release()
	union, ok := m.union(spec)
	if !ok || len(union.rows) == 0 {
		return nil
	}
	for _, store := range m.from {
		if err := m.into.copyAttachments(store, spec); err != nil {
			return err
		}
	}
	switch {
	case !union.news:
		m.report.Unchanged++
		return nil
	case union.known:
		m.report.Extended++
	default:
		m.report.Added++
	}
	return m.into.saveUnion(spec, union)
}

// problem adds to the report, each damaged file only once.
func (m *merger) problem(err error) {
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		if m.damaged[damaged.Path] {
			return
		}
		m.damaged[damaged.Path] = true
	}
	m.report.Problems = append(m.report.Problems, err)
}

// union joins the steps that the folders have of a run. ok is false if there is a conflict, or if the file in the
// folder into cannot be read.
func (m *merger) union(spec Spec) (u *union, ok bool) {
	u = &union{rows: map[int][]Row{}, by: map[int]*source{}}
	for i, store := range append([]*Store{m.into}, m.from...) {
		read := store.Read
		if i == 0 {
			read = store.load // moves a damaged file to quarantine
		}
		sources, problems := store.sources(spec, read)
		for _, err := range problems {
			m.problem(err)
			if i == 0 && !errors.Is(err, ErrMissing) {
				return nil, false // the file must not be replaced unread
			}
		}
		for _, from := range sources {
			if t, other := u.conflict(from); other != nil {
				m.problem(&ConflictError{Spec: spec, T: t, A: other.path, B: from.path})
				return nil, false
			}
			u.add(from, i == 0)
		}
	}
	return u, true
}

// source is one file of a run.
type source struct {
	path     string
	finished bool
	rows     map[int][]Row
	sessions []Provenance
	took     map[int]float64 // seconds spent on each step, of an unfinished run
	seconds  float64
	taken    int // steps that the union takes from it
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

// union is what several files hold of a run.
type union struct {
	rows     map[int][]Row
	by       map[int]*source // the source of each step: the first file that has it
	sources  []*source
	finished map[int]bool // steps of the finished file in the folder into
	known    bool         // whether that folder had any step
	news     bool         // whether the others add something
}

// conflict returns the first step that has other rows in the union than in from, and the union's source of it; nil if
// there is none.
func (u *union) conflict(from *source) (t int, other *source) {
	for _, t := range slices.Sorted(maps.Keys(from.rows)) {
		if other := u.by[t]; other != nil && !slices.EqualFunc(u.rows[t], from.rows[t], sameRow) {
			return t, other
		}
	}
	return 0, nil
}

// sameRow compares bits: zero and minus zero differ.
func sameRow(a, b Row) bool {
	return a.T == b.T && a.Metric == b.Metric && math.Float64bits(a.Value) == math.Float64bits(b.Value)
}

// add takes the steps that the union does not have yet; own says that the file is in the folder into.
func (u *union) add(from *source, own bool) {
	u.sources = append(u.sources, from)
	u.known = u.known || own
	if own && from.finished {
		u.finished = map[int]bool{}
	}
	for t, rows := range from.rows {
		switch {
		case own && from.finished:
			u.finished[t] = true
		case !own && from.finished && !u.finished[t]:
			u.news = true
		}
		if u.by[t] != nil {
			continue
		}
		u.rows[t], u.by[t] = rows, from
		u.news = u.news || !own
		from.taken++
	}
}

// saveUnion writes the union into the folder. The caller holds the run's lock.
func (s *Store) saveUnion(spec Spec, u *union) error {
	if slices.ContainsFunc(u.sources, func(from *source) bool { return from.finished }) {
		return s.save(newResult(spec, u.provenance(), u.rows))
	}
	path := s.partialPath(spec)
	if err := artifact.Replace(path, u.encodePartial(spec), 0o644); err != nil {
		return &WriteError{"file of finished steps", path, err}
	}
	return nil
}

// provenance joins those of the files from which steps were taken, in the order of time. A file's seconds count in
// proportion to the steps that were taken from it.
func (u *union) provenance() Provenance {
	var sessions []Provenance
	seconds := 0.0
	for _, from := range u.sources {
		if from.taken > 0 {
			sessions = append(sessions, from.sessions...)
			seconds += from.seconds * (float64(from.taken) / float64(len(from.rows)))
		}
	}
	return sessionsAsOne(sessions, seconds)
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

// encodePartial returns the bytes of an unfinished run's file: for each file of the union one session, and its steps.
func (u *union) encodePartial(spec Spec) []byte {
	text := jsonLine(partialLine{Spec: &spec})
	for _, from := range u.sources {
		if from.taken == 0 {
			continue
		}
		session := sessionsAsOne(from.sessions, 0)
		text = append(text, sealed(partialLine{Session: &session})...)
		for _, t := range slices.Sorted(maps.Keys(from.took)) {
			if u.by[t] == from {
				text = append(text, stepLines(t, u.rows[t], from.took[t])...)
			}
		}
	}
	return text
}
