package continual

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/data/labelshift"
)

// scenario is a kind of stream with the models that may learn from it.
type scenario struct {
	groups   []string         // the settings that concern it, by their tag `of`
	networks []string         // the models that it takes, see Settings.Network
	shift    labelshift.Shift // of its labels; none on the Gaussian
}

var (
	onTheLine  = scenario{groups: []string{"gaussian"}, networks: []string{"linear", "mlp"}}
	images10   = scenario{groups: []string{"shift"}, networks: []string{"head"}}
	onFeatures = scenario{groups: []string{"shift", "clear"}, networks: []string{"linear", "mlp"}}
)

func (s scenario) under(shift labelshift.Shift) scenario {
	s.shift = shift
	return s
}

// scenarios are those of Section 3.1 and of the appendix.
var scenarios = map[string]scenario{
	"gaussian": onTheLine,
	"periodic": onTheLine,
	"cifar10a": images10.under(labelshift.CIFAR10a),
	"cifar10b": images10.under(labelshift.CIFAR10b),
	"cifar10c": images10.under(labelshift.CIFAR10c),
	"noshift":  images10.under(labelshift.NoShift),
	"clear":    onFeatures.under(labelshift.CLEAR),
}

// Scenarios lists the names of all scenarios.
func Scenarios() []string { return slices.Sorted(maps.Keys(scenarios)) }

// shift is the label shift of the settings; ok is false where labels do not shift by
// design, as on the Gaussian.
func (s Settings) shift() (shift labelshift.Shift, ok bool) {
	shift = scenarios[s.Scenario].shift
	if shift.Classes == 0 {
		return shift, false
	}
	shift.Steps = s.Steps
	if shift.Reading != labelshift.Uniform {
		shift.Reading = labelshift.Reading(s.Reading)
	}
	return shift, true
}

// CheckStride tells whether the stride of a label-shift scenario meets its steps
// unevenly, and which would not.
func (s Settings) CheckStride() error {
	if shift, ok := s.shift(); ok && s.Stride > 1 && shift.Reading != labelshift.Uniform {
		return labelshift.CheckStride(s.Stride, shift.Interval)
	}
	return nil
}

// checkNetwork tells whether the scenario takes the model.
func (s Settings) checkNetwork() error {
	if valid := scenarios[s.Scenario].networks; !slices.Contains(valid, s.Network) {
		return fmt.Errorf("setting network=%s does not fit scenario %s, which takes %s", s.Network, s.Scenario, strings.Join(valid, " or "))
	}
	return nil
}
