// Package runs computes and stores runs. A run is one learner on one scenario with one seed. Its name is the hash of
// everything that can change its numbers, so stored runs are never computed again. Runs are written atomically, and
// several processes can share one folder. An interrupted run (Ctrl-C, kill -9, power) continues at its next step and
// ends with the same bytes as an uninterrupted one.
package runs

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Spec identifies a run: it holds everything that can change the run's numbers, and nothing else. The reported time
// steps are no part of it, as each step is trained from scratch: another stride reuses the stored steps.
type Spec struct {
	Experiment string            `json:"experiment"` // also the folder's name, as "cifar10b"
	Learner    string            `json:"learner"`    // as "everything", "ours"
	Seed       int64             `json:"seed"`
	Settings   map[string]string `json:"settings"` // every setting that can change a number, in canonical text
}

// idLength is the number of hexadecimal digits of an ID: 64 bits, enough for billions of runs in one folder.
const idLength = 16

// ID returns the run's name: the first 16 hexadecimal digits of the SHA-256 of the spec's JSON with sorted keys. It
// does not depend on map order or on whether an empty Settings is nil.
func (s Spec) ID() string {
	if s.Settings == nil {
		s.Settings = map[string]string{}
	}
	text := jsonLine(s) // which sorts the keys of maps
	return digest(text[:len(text)-1])[:idLength]
}

// String names the run for people: "cifar10b/ours seed 0".
func (s Spec) String() string {
	return fmt.Sprintf("%s/%s seed %d", s.Experiment, s.Learner, s.Seed)
}

// validate returns an error if the spec would change when written as JSON.
func (s Spec) validate() error {
	texts := []string{s.Experiment, s.Learner}
	for setting, value := range s.Settings {
		texts = append(texts, setting, value)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("run %q has the text %q, which is not UTF-8: write its names and settings as UTF-8", s, text)
		}
	}
	return nil
}

// Row is one measurement of a run.
type Row struct {
	T      int     `json:"t"`      // the time step that reports it
	Metric string  `json:"metric"` // as "accuracy"
	Value  float64 `json:"value"`
}

// checkRows returns an error if rows of step t have a value that JSON cannot hold.
func checkRows(t int, rows []Row) error {
	for _, row := range rows {
		if math.IsNaN(row.Value) || math.IsInf(row.Value, 0) {
			return fmt.Errorf("step %d reports %s = %g: training diverged or the metric divides by zero", t,
				row.Metric, row.Value)
		}
	}
	return nil
}
