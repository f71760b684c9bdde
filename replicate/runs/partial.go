package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"tvps/data/artifact"
)

// The rows of an unfinished run are appended to <id>.partial.jsonl:
//
//	{"spec":...}
//	{"session":...,"sum":"..."}                            one for each process that worked on it
//	{"t":0,"metric":"accuracy","value":0.5}                rows of step 0
//	{"done":{"t":0,"rows":1,"sha256":"...","seconds":1.5},"sum":"..."} step 0 is complete
//
// Each step is one write. What follows the last complete step (an incomplete line after kill -9, zeros after a power
// failure) is dropped and computed again. The spec is checked by the run's ID, rows by the sha256 of their step, the
// other lines by a sum of their own. Older programs wrote none: steps of theirs are computed again.
type partial struct {
	sessions []Provenance  // that completed a step
	rows     map[int][]Row // of complete steps
	seconds  float64       // spent on them
	size     int64         // bytes up to the end of the last complete step
}

func newPartial() *partial { return &partial{rows: map[int][]Row{}} }

type doneMark struct {
	T       int     `json:"t"`
	Rows    int     `json:"rows"`
	SHA256  string  `json:"sha256"` // of the step's number and row lines
	Seconds float64 `json:"seconds"`
}

// partialLine is any line of the file.
type partialLine struct {
	Spec    *Spec       `json:"spec,omitempty"`
	Session *Provenance `json:"session,omitempty"`
	Done    *doneMark   `json:"done,omitempty"`
	Metric  *string     `json:"metric,omitempty"`
	Sum     string      `json:"sum,omitempty"` // SHA-256 of the line without it
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

// addSteps adds the rows of the steps that are not known yet.
func addSteps(known, rows map[int][]Row) {
	for t, stepRows := range rows {
		if _, again := known[t]; !again {
			known[t] = stepRows
		}
	}
}

// parsePartial reads lines until the first one that is not as it was written.
func parsePartial(data []byte, id string) *partial {
	parser := partialParser{id: id, part: newPartial()}
	for at := 0; ; {
		length := bytes.IndexByte(data[at:], '\n') + 1
		if length == 0 || !parser.take(data[at:at+length], at == 0) { // the end, or an incomplete or damaged line
			return parser.part
		}
		at += length
		if len(parser.rows) == 0 {
			parser.part.size = int64(at)
		}
	}
}

// partialParser reads the file line by line.
type partialParser struct {
	id      string
	part    *partial
	session *Provenance // the current one, until its first complete step
	rows    []Row       // of the step being read
	lines   []byte      // of those rows, as they stand in the file
}

// take reads one line; it returns false for a damaged one.
func (p *partialParser) take(line []byte, first bool) bool {
	var parsed partialLine
	if json.Unmarshal(line, &parsed) != nil {
		return false
	}
	switch {
	case first:
		return parsed.Spec != nil && parsed.Spec.ID() == p.id
	case parsed.Done != nil:
		return intact(line, parsed.Sum) && p.complete(*parsed.Done)
	case parsed.Metric != nil:
		var row Row
		if json.Unmarshal(line, &row) != nil {
			return false
		}
		p.rows, p.lines = append(p.rows, row), append(p.lines, line...)
		return true
	}
	p.session = parsed.Session
	return parsed.Session != nil && len(p.rows) == 0 && intact(line, parsed.Sum)
}

// complete adds the step that ends here, if its rows match their checksum.
func (p *partialParser) complete(done doneMark) bool {
	if _, again := p.part.rows[done.T]; again {
		return false
	}
	if done.Rows != len(p.rows) || done.SHA256 != stepDigest(done.T, p.lines) {
		return false
	}
	if p.session != nil {
		p.part.sessions = append(p.part.sessions, *p.session)
	}
	p.part.rows[done.T] = p.rows
	p.part.seconds += done.Seconds
	p.session, p.rows, p.lines = nil, nil, nil
	return true
}

// stepDigest is the checksum of step t with these row lines.
func stepDigest(t int, lines []byte) string {
	return digest(append(strconv.AppendInt(nil, int64(t), 10), lines...))
}

// openPartial opens the file at path for writing behind its last complete step and writes the new session. The caller
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
		head = jsonLine(partialLine{Spec: &spec})
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

// stepLines are the lines of one complete step.
func stepLines(t int, rows []Row, seconds float64) []byte {
	var lines []byte
	for _, row := range rows {
		lines = append(lines, jsonLine(row)...)
	}
	mark := doneMark{T: t, Rows: len(rows), SHA256: stepDigest(t, lines), Seconds: seconds}
	return append(lines, sealed(partialLine{Done: &mark})...)
}
