package experiment

import (
	"slices"
	"strings"

	"tvps/replicate/runs"
)

// Outline is the part of a series' runs that follows from the settings alone. Backend, data and checkpoint are missing:
// only the machine that computes the runs has them. So an outline can be made on a machine without any of them.
type Outline struct {
	Series   string
	Learner  string
	Settings map[string]string // identity of the runs, without their environment
	Data     []Data            // the data sets that the runs may use, the preferred ones first
	Steps    []int

	Backend bool   // whether a backend computes the numbers
	Images  bool   // whether networks are trained or compared on images, work that suits a GPU
	Trunk   *Trunk // the network whose features the runs may need; nil for none
}

// Data is a data set that runs may use.
type Data struct {
	Experiment string // the field Experiment of the runs' specs
	Name       string // the setting "data" of the specs, such as "full"; a prefix of it if it ends in a colon; empty: none
	StandIn    string // see Source
}

// Trunk is the frozen part of a pre-trained ResNet-18.
type Trunk struct {
	Width    int
	PerSplit bool // whether each seed has a split of the data, with a checkpoint, of its own
}

// environment lists the settings of a spec that depend on the machine.
var environment = []string{"backend", "plugin", "flags", "data", "checkpoint-hash"}

// Environment returns the settings of a spec that depend on the machine, which its outline does not have.
func Environment(spec runs.Spec) map[string]string {
	out := map[string]string{}
	for _, name := range environment {
		if value, ok := spec.Settings[name]; ok {
			out[name] = value
		}
	}
	return out
}

// Matches tells whether a spec belongs to the outline's runs, whatever its seed and environment, and returns the data
// that it uses.
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
