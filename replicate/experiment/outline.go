package experiment

import (
	"slices"
	"strings"

	"tvps/replicate/runs"
)

// Outline is what the settings alone say of the runs of a series: all but their backend, data and checkpoint, which
// only the machine that computes them knows. So it needs none of these.
type Outline struct {
	Series   string
	Learner  string
	Settings map[string]string // the identity of the runs without that of their environment
	Data     []Data            // the data that they can be made of, the preferred ones first
	Steps    []int
	Seconds  Guess // of a step of a seed
	CPUs     int   // processors that a run or a group keeps busy, if no GPU computes it; 0: two, as most
	Memory   func(seeds int) (mib int)
	Group    int // largest number of batched seeds; 0: seeds are not batched

	Backend bool   // whether a backend computes the numbers
	Agents  bool   // whether agents of robots are trained
	Images  bool   // whether networks of images are trained or compared, which is work for a GPU
	Trunk   *Trunk // the network whose features the runs may need; nil for none
}

// Guess is an estimate from constants: the seconds on the outline's processors, and on a data centre's GPU.
type Guess struct{ CPU, GPU float64 }

// Data is one of the data sets that runs can be made of.
type Data struct {
	Experiment string // of the runs' specs
	Name       string // in the identity, as "full"; with a colon at its end, the beginning of it; empty for none
	StandIn    string // see Source
}

// Trunk is the frozen part of a pre-trained ResNet-18.
type Trunk struct {
	Width    int
	PerSplit bool   // whether each seed has the checkpoint of its own split
	Features string // equal for runs of a split that share the features
}

// environment names what the machine adds to the identity of runs.
var environment = []string{"backend", "plugin", "flags", "data", "checkpoint-hash"}

// Environment returns the part of a spec that is not in the settings of its outline.
func Environment(spec runs.Spec) map[string]string {
	out := map[string]string{}
	for _, name := range environment {
		if value, ok := spec.Settings[name]; ok {
			out[name] = value
		}
	}
	return out
}

// Matches tells whether a spec is that of one of the runs, with which seed and in which environment it may be, and
// returns its data.
func (o Outline) Matches(spec runs.Spec) (Data, bool) {
	if spec.Learner != o.Learner {
		return Data{}, false
	}
	i := slices.IndexFunc(o.Data, func(d Data) bool {
		name := spec.Settings["data"]
		return d.Experiment == spec.Experiment &&
			(name == d.Name || strings.HasSuffix(d.Name, ":") && strings.HasPrefix(name, d.Name))
	})
	if i < 0 {
		return Data{}, false
	}
	for name, value := range o.Settings {
		if other, ok := spec.Settings[name]; !ok || other != value {
			return Data{}, false
		}
	}
	for name := range spec.Settings {
		if _, ok := o.Settings[name]; !ok && !slices.Contains(environment, name) {
			return Data{}, false
		}
	}
	return o.Data[i], true
}
