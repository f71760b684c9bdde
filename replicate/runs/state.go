package runs

import (
	"encoding/json"
	"errors"
	"fmt"
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
	known, result, err := s.known(spec)
	if err != nil {
		state.Message = err.Error()
	}
	for _, t := range steps {
		if _, ok := known[t]; ok {
			state.Steps++
		}
	}
	if result != nil && result.has(steps) {
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

// known returns the rows of all stored steps, of a finished and of an unfinished run's file, and the finished run, nil
// if there is none. Rows of the unfinished one come first, as they are newer where a finished run is computed again. It
// moves no file.
func (s *Store) known(spec Spec) (rows map[int][]Row, finished *Result, err error) {
	part, err := s.unfinished(spec) // before the finished one, which may replace it meanwhile
	finished, readErr := s.Read(spec)
	switch _, damaged := errors.AsType[*DamagedError](readErr); {
	case readErr == nil:
		addSteps(part.rows, finished.byStep())
	case damaged || !errors.Is(readErr, ErrMissing):
		err = readErr
	}
	return part.rows, finished, err
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

// Begun returns when the computation of a run's stored steps began, and their number: of a finished run, or, if there
// is none or it does not count, of an unfinished one.
func (s *Store) Begun(spec Spec, finished bool) (start time.Time, steps int) {
	if finished {
		if result, err := s.Read(spec); err == nil {
			return result.Provenance.Start, len(result.byStep())
		}
	}
	part, _ := s.unfinished(spec)
	if len(part.sessions) > 0 {
		start = part.sessions[0].Start
	}
	return start, len(part.rows)
}
