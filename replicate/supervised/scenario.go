package supervised

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/data/streams"
	"tvps/replicate/experiment"
)

// Scenario is the declaration of a stream: what it is made from, which settings and models concern it, and their
// values at each scale. To add one, write its data package and call [DeclareScenario] with a function Open.
type Scenario struct {
	Name     string
	Groups   []string           // groups of settings that Open reads besides "stream", see [Settings]
	Networks []string           // models that it can be learned by, see Settings.Network
	Shift    streams.LabelShift // of its labels; the zero value if they do not shift by design

	Pretrained bool // its samples are features of images, of a pre-trained network
	// Data lists the data that runs can be made of; nil if the settings say everything. See [Source].
	Data func(s Settings) []experiment.Data

	Scales experiment.ByScale[Settings] // every setting at every scale

	// Open returns its samples under settings. Those of other scenarios' groups are zero: what is not in Groups is not
	// in the identity of a run.
	Open func(h *experiment.Host, s Settings) Source
}

// Source is where the samples of a scenario come from under given settings.
type Source interface {
	// About says which data they are; the note is empty if samples are simulated or the data cannot be read.
	About() experiment.Source
	// Identity returns what can change the samples of a seed besides the settings, such as a hash of files.
	Identity(seed int64) (map[string]string, error)
	// Stream prepares the samples of a seed for an engine. It may be called several times.
	Stream(ctx context.Context, e *Engine, seed int64) (*Stream, error)
}

// DeclareScenario adds a scenario and returns it. Call it from a package's initialisation. It panics on a name that
// is empty or taken, and without Open.
func DeclareScenario(c Scenario) Scenario {
	if c.Open == nil {
		panic("supervised: the scenario " + c.Name + " needs a function Open")
	}
	return scenarios.Add(c)
}

// ScalesOf returns the settings of a declared scenario at every scale, each changed: a start for a scenario that
// resembles it.
func ScalesOf(name string, change func(s *Settings)) experiment.ByScale[Settings] {
	out := experiment.ByScale[Settings]{}
	for scale, s := range (Settings{Scenario: name}).scenario().Scales {
		out[scale] = s.with(change)
	}
	return out
}

// Scenarios lists the names of all scenarios, sorted.
func Scenarios() []string { return scenarios.Names() }

// scenario returns the declaration of the settings' scenario, the zero value if there is none.
func (s Settings) scenario() Scenario {
	c, _ := scenarios.Of(s.Scenario)
	return c
}

// data lists the data that runs can be made of.
func (s Settings) data() []experiment.Data {
	if data := s.scenario().Data; data != nil {
		return data(s)
	}
	return []experiment.Data{{Experiment: s.folder("")}}
}

// open returns the source of the scenario's samples.
func (s Settings) open(h *experiment.Host) Source {
	c := s.scenario()
	var others []string
	for _, other := range scenarios.Entries {
		others = append(others, other.Groups...)
	}
	experiment.Clear(&s, slices.DeleteFunc(others, func(group string) bool { return slices.Contains(c.Groups, group) })...)
	return c.Open(h, s)
}

// shift returns the label shift of the scenario.
func (s Settings) shift() streams.LabelShift {
	shift := s.scenario().Shift
	if shift.Reading != streams.Uniform {
		shift.Reading = streams.Reading(s.Reading)
	}
	return shift
}

// CheckStride returns an error, which names a better stride, if the stride visits only some positions within the
// intervals of a label shift.
func (s Settings) CheckStride() error {
	shift := s.scenario().Shift
	if shift.Classes == 0 || shift.Reading == streams.Uniform || s.Stride == 1 {
		return nil
	}
	return streams.CheckStride(s.Stride, shift.Interval)
}

// check tells whether the settings fit the scenario.
func (c Scenario) check(s Settings) error {
	if !slices.Contains(c.Networks, s.Network) {
		return fmt.Errorf("setting network=%s does not fit scenario %s, which takes %s",
			s.Network, c.Name, strings.Join(c.Networks, " or "))
	}
	return nil
}
