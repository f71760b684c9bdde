// Package experiment is what a figure asks of an experiment: settings that are changed by name, scales, and runs. The
// paper has two kinds of experiment, that of Section 3.1 (package supervised) and that of Section 3.2 (package
// robots). Each is a [Protocol], whose settings implement [Setup].
package experiment

import (
	"cmp"
	"fmt"
	"io"

	"tvps/gomlx_models/backend"
	"tvps/replicate/runs"
)

// Protocol is a kind of experiment: its scenarios and learners, and how their results are shown.
type Protocol struct {
	Base    string   // the learner that the others are compared with; its line is 0 in a relative chart
	Floors  []string // learners that the first series of a panel must exceed at its end, or its claims are not judged
	Measure string   // the default of what runs report; panels that show it can draw any learner
	XLabel  string   // label of the steps, as "time step t"

	// IsTask tells whether a metric is that of one task. Notes then compare the learners over tasks and seeds where the
	// steps end. nil: there are no tasks.
	IsTask func(metric string) bool

	Scenarios func() []string
	Learners  func() []string
	Fields    func() []Field // names and meanings of its settings; the values are not used
	// At returns the settings of a scenario at a scale. Errors: an unknown scenario or scale.
	At func(scenario string, scale Scale) (Setup, error)
}

// Setup holds the settings of a scenario. It is a comparable value: With returns a changed copy.
type Setup interface {
	Fields() []Field
	With(name, value string) (Setup, error) // changes one setting; errors name the nearest setting or the valid values
	Validate() error                        // checks that all settings fit together

	Length() int         // time steps of the stream, or episodes of training
	PlannedSteps() []int // the steps at which a run reports

	// Sampled tells whether measured steps stand for those between them: claims are then about the mean over all steps of
	// the stream, and intervals allow for the steps that were left out.
	Sampled() bool

	// CheckSeries returns an error unless the series exists and fits the scenario and the measure ("" for the
	// protocol's).
	CheckSeries(name, measure string) error
	// Outlines returns what the settings say of the runs of each series. Errors: impossible settings.
	Outlines(series []string, measure string) ([]Outline, error)
	// Jobs returns one run for each series and seed. It computes nothing. Errors: impossible settings, missing data or
	// checkpoints.
	Jobs(h *Host, series []string, seeds []int64, measure string) ([]runs.Wanted, error)
	// Notes describes the data, models and settings of a panel, in sentences; source are the data.
	Notes(source Source, series []string, measure string) []string
	// Source names the data of the scenario on this machine.
	Source(h *Host) Source
}

// Sized is a Setup that says in a few words how large its runs are, as "3 of 10 valves, 128 units".
type Sized interface{ Size() string }

// Apply returns setup with settings of the form name=value; of two with the same name, the last one counts.
func Apply(setup Setup, list []string) (Setup, error) {
	for _, entry := range list {
		name, value, err := Split(entry)
		if err != nil {
			return nil, err
		}
		if setup, err = setup.With(name, value); err != nil {
			return nil, err
		}
	}
	return setup, nil
}

// Ordinal returns n as in "every 3rd step": "single", "2nd", "3rd", "4th".
func Ordinal(n int) string {
	if n == 1 {
		return "single"
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		suffix = cmp.Or(map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10], suffix)
	}
	return fmt.Sprint(n, suffix)
}

// Source names the data that samples come from.
type Source struct {
	Note    string // a sentence without its full stop; empty where samples are simulated
	StandIn string // what every file says if other data replace it, as "stand-in, not CLEAR"; else empty
}

// Host holds what all runs of a process share.
type Host struct {
	Backend  *backend.Backend
	CacheDir string    // of features and checkpoints
	Log      io.Writer // for messages about slow preparations; may be nil
	Memo     Memo      // what a protocol loads or compiles once in a process
}
