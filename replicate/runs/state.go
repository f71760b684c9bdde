package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Kind is the condition of a run.
type Kind string

// The conditions that a run can be in.
const (
	Done    Kind = "done"    // every wanted step is stored
	Running Kind = "running" // a living process is computing it
	Failed  Kind = "failed"  // it stopped with an error; computing it again continues at that step
	Partial Kind = "partial" // some wanted steps are stored
	Missing Kind = "missing" // nothing is stored
)

// State is what a store knows about a run.
type State struct {
	Kind    Kind
	Steps   int    // wanted steps that are stored
	Of      int    // wanted steps
	By      Holder // of a running one: the process
	Message string // of a failed run, or of a damaged file
}

// String is as "partial: 3 of 9 steps" or "running: 3 of 9 steps, on node1, job 123_4".
func (s State) String() string {
	text := string(s.Kind)
	if s.Kind != Done && s.Kind != Missing {
		text += fmt.Sprintf(": %d of %d steps", s.Steps, s.Of)
	}
	if by := s.By.String(); by != "" {
		text += ", " + by
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// State returns the condition of a run, of which steps are wanted. It changes nothing.
func (s *Store) State(spec Spec, steps []int) State {
	state := State{Kind: Missing, Of: len(steps)}
	known, err := s.known(spec)
	if err != nil {
		state.Message = err.Error()
	}
	for _, t := range steps {
		if _, ok := known[t]; ok {
			state.Steps++
		}
	}
	if state.Steps == state.Of && s.stored(spec, steps) {
		state.Kind = Done
		return state
	}
	message, failed := readFailure(s.failedPath(spec))
	by, held := s.holder(spec)
	switch {
	case held:
		state.By = by
		state.Kind = Running
	case failed:
		state.Kind, state.Message = Failed, message
	case state.Steps > 0:
		state.Kind = Partial
	}
	return state
}

// known returns the rows of all stored steps, of a finished and of an unfinished run's file. It moves no file.
func (s *Store) known(spec Spec) (map[int][]Row, error) {
	part, err := s.unfinished(spec) // before the finished one, which may replace it meanwhile
	rows := part.rows
	result, readErr := s.Read(spec)
	if readErr != nil {
		if !isPlainMissing(readErr) {
			err = readErr
		}
		return rows, err
	}
	for t, stepRows := range result.byStep() {
		rows[t] = stepRows
	}
	return rows, err
}

// stored tells whether a finished file holds all of steps.
func (s *Store) stored(spec Spec, steps []int) bool {
	result, err := s.Read(spec)
	return err == nil && result.has(steps)
}

// readFailure reads the note of a failure.
func readFailure(path string) (message string, failed bool) {
	text, err := readFile(path)
	if err != nil {
		return "", false
	}
	var note failedFile
	if json.Unmarshal(text, &note) != nil {
		return "its failure note cannot be read", true
	}
	return note.Error, true
}

// explainer returns a function that says which settings make spec a new run, compared with the most similar stored run
// of the same experiment, learner and seed: "epochs 20 -> 5". It is empty if there is none to compare with. Each folder
// is listed once.
func (s *Store) explainer() func(spec Spec) string {
	type kind struct {
		experiment, learner string
		seed                int64
	}
	type stored struct {
		spec     Spec
		id       string
		modified time.Time
	}
	byKind := map[kind][]stored{}
	listed := map[string]bool{}
	list := func(experiment string) {
		listed[experiment] = true
		entries, err := os.ReadDir(filepath.Join(s.dir, experiment))
		if err != nil {
			return
		}
		for _, entry := range entries {
			if !isStored(entry.Name()) {
				continue
			}
			spec, ok := s.storedSpec(filepath.Join(s.dir, experiment, entry.Name()))
			if !ok {
				continue
			}
			one := stored{spec: spec, id: strings.TrimSuffix(entry.Name(), fileSuffix)}
			if info, err := entry.Info(); err == nil {
				one.modified = info.ModTime()
			}
			of := kind{experiment, spec.Learner, spec.Seed}
			byKind[of] = append(byKind[of], one)
		}
	}
	return func(spec Spec) string {
		if !listed[spec.Experiment] {
			list(spec.Experiment)
		}
		var best *stored
		least, id := 0, spec.ID()
		for _, other := range byKind[kind{spec.Experiment, spec.Learner, spec.Seed}] {
			if other.id == id {
				continue
			}
			changes := spec.changes(other.spec)
			if best == nil || changes < least || changes == least && other.modified.After(best.modified) {
				best, least = &other, changes
			}
		}
		if best == nil {
			return ""
		}
		return strings.Join(spec.difference(best.spec), ", ")
	}
}

// storedSpec returns the spec of a finished run's file, from memory after the first time; ok is false if the file
// cannot be read.
func (s *Store) storedSpec(path string) (Spec, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	spec, ok := s.specs[path]
	if ok {
		return spec, true
	}
	spec, err := readSpec(path)
	if err != nil || spec.ID()+fileSuffix != filepath.Base(path) {
		return Spec{}, false
	}
	s.specs[path] = spec
	return spec, true
}
