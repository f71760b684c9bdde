// Package protocol is what figures know of an experiment, and no more: the paper has two kinds of experiment, that of
// Section 3.1 (package continual) and that of Section 3.2 (package reinforce), and both implement Setup.
package protocol

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"sync"

	"tvps/gomlx_models/backend"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
)

// Protocol is a kind of experiment: its scenarios and learners, and how their results are shown.
type Protocol struct {
	Base    string // the learner that the others are compared with; its line is 0 in a relative chart
	Measure string // what runs report unless a panel says otherwise; any learner may be drawn in its panels
	XLabel  string // what a step is, as "time step t"
	Unit    string // the plural of a step, as "episodes"
	Robust  bool   // whether a panel's notes give the interquartile mean over seeds of the last quarter of the steps

	Scenarios func() []string
	Learners  func() []string
	Fields    func() []settings.Field // the settings that its scenarios have; values are not meant
	// At returns the settings that a scenario declares for a scale. Errors: an unknown scenario or scale.
	At func(scenario string, scale settings.Scale) (Setup, error)
}

// Setup is the settings of a scenario. It is a comparable value: With and Thin return changed copies.
type Setup interface {
	Fields() []settings.Field
	With(name, value string) (Setup, error) // one setting changed; errors name the nearest setting or the valid values
	Validate() error                        // whether all settings fit together

	Length() int           // time steps of the stream, or episodes of training
	PlannedSteps() []int   // the steps at which a run reports
	Thin(factor int) Setup // reports at every factor-th of these only

	// CheckSeries tells whether a series exists and fits the scenario and the measure ("" for the protocol's own).
	CheckSeries(name, measure string) error
	// Jobs returns one run for each series and seed. It computes nothing. Errors: impossible settings, missing data or
	// checkpoints.
	Jobs(h *Host, series []string, seeds []int64, measure string) ([]runs.Wanted, error)
	// Notes says what a panel was made from, in sentences.
	Notes(h *Host, series []string, measure string) []string
	// Source says which data the scenario is made of.
	Source(h *Host) Source
}

// Apply returns setup with settings of the form name=value, the last of each name.
func Apply(setup Setup, list []string) (Setup, error) {
	for _, entry := range list {
		name, value, err := settings.Split(entry)
		if err != nil {
			return nil, err
		}
		if setup, err = setup.With(name, value); err != nil {
			return nil, err
		}
	}
	return setup, nil
}

// Ordinal is n as in "every 3rd step": "single", "2nd", "3rd", "4th".
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

// Source says where samples come from.
type Source struct {
	Note    string // a sentence without its full stop; empty where samples are simulated
	StandIn string // what every file says if something else takes the place of the data, as "stand-in, not CLEAR"
}

// Film is the name of the attachment with which a run shows one of its last evaluation episodes, an animated SVG.
const Film = "film.svg"

// Host is what all runs of a process share.
type Host struct {
	Backend  *backend.Backend
	CacheDir string    // features, checkpoints and measurements of throughput are kept here
	Log      io.Writer // slow preparations are reported here; may be nil
	Workers  int       // number of parallel runs; no number depends on it

	mu    sync.Mutex
	local map[reflect.Type]any
}

// Local returns the value of type T that belongs to the host: what a protocol loads or compiles once for each process.
// The first call makes it.
func Local[T any](h *Host, make func() *T) *T {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := reflect.TypeFor[T]()
	if v, ok := h.local[key]; ok {
		return v.(*T)
	}
	v := make()
	if h.local == nil {
		h.local = map[reflect.Type]any{}
	}
	h.local[key] = v
	return v
}
