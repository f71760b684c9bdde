package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"tvps/data/artifact"
)

// The steps of an unfinished run are appended to <id>.partial.jsonl, in lines that end with a sum of themselves:
//
//	{"spec":...,"sum":"..."}
//	{"session":...,"sum":"..."}                              one for each process that worked on it
//	{"step":{"t":0,"seconds":1.5,"rows":[...]},"sum":"..."}  one for each finished step
//
// Each step is one write. What follows the last intact line (an incomplete line after kill -9, zeros after a power
// failure) is dropped and computed again.
type partial struct {
	sessions []Provenance  // that finished a step
	rows     map[int][]Row // of finished steps
	seconds  float64       // spent on them
	size     int64         // bytes up to the end of the last intact line
}

func newPartial() *partial { return &partial{rows: map[int][]Row{}} }

// partialLine is any line of the file.
type partialLine struct {
	Spec    *Spec         `json:"spec,omitempty"`
	Session *Provenance   `json:"session,omitempty"`
	Step    *finishedStep `json:"step,omitempty"`
	Sum     string        `json:"sum,omitempty"` // SHA-256 of the line without it
}

type finishedStep struct {
	T       int     `json:"t"`
	Seconds float64 `json:"seconds"`
	Rows    []Row   `json:"rows"`
}

// sealed returns the line with its sum.
func sealed(line partialLine) []byte {
	line.Sum = digest(jsonLine(line))
	return jsonLine(line)
}

// intact tells whether a line ends with its sum.
func intact(line []byte, sum string) bool {
	text, found := bytes.CutSuffix(line, []byte(`,"sum":"`+sum+"\"}\n"))
	return found && digest(append(bytes.Clone(text), "}\n"...)) == sum
}

// parsePartial reads lines until the first one that is not as it was written. Nothing is read of another run's file. Of
// a step that is there twice the first one counts.
func parsePartial(data []byte, id string) *partial {
	part := newPartial()
	var session *Provenance // the current one, until its first step
	for line := range bytes.Lines(data) {
		var parsed partialLine
		if json.Unmarshal(line, &parsed) != nil || !intact(line, parsed.Sum) {
			return part
		}
		switch {
		case part.size == 0:
			if parsed.Spec == nil || parsed.Spec.ID() != id {
				return part
			}
		case parsed.Session != nil:
			session = parsed.Session
		case parsed.Step != nil:
			step := parsed.Step
			if session != nil {
				part.sessions, session = append(part.sessions, *session), nil
			}
			if _, again := part.rows[step.T]; !again {
				part.rows[step.T] = step.Rows
				part.seconds += step.Seconds
			}
		}
		part.size += int64(len(line))
	}
	return part
}

// addSteps adds the rows of the steps that are not known yet.
func addSteps(known, rows map[int][]Row) {
	for t, stepRows := range rows {
		if _, again := known[t]; !again {
			known[t] = stepRows
		}
	}
}

// openPartial opens the file at path for writing behind its last intact line and writes the new session. The caller
// holds the run's lock.
func openPartial(path string, spec Spec, part *partial, session Provenance) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrPermission) { // another user began the run in a shared folder: continue a copy
		var text []byte
		if text, err = readFile(path); err == nil {
			err = artifact.Replace(path, text[:min(part.size, int64(len(text)))], 0o644)
		}
		if err == nil {
			file, err = os.OpenFile(path, os.O_WRONLY, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	var head []byte
	if part.size == 0 {
		head = sealed(partialLine{Spec: &spec})
	}
	head = append(head, sealed(partialLine{Session: &session})...)
	if err = file.Truncate(part.size); err == nil {
		_, err = file.WriteAt(head, part.size)
	}
	if err == nil {
		_, err = file.Seek(part.size+int64(len(head)), 0)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
