package backtest

import (
	"fmt"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
)

// Season is the name of the weighting, and of the rule, that Weighting.Season gives.
const Season = "season"

// Weighting is one way to weight the rows of the past for time T: a kind of omega, or none, times a function of age, or
// none.
type Weighting struct {
	Kind     crossfit.Kind // of omega, clipped at 1; "" for none
	Part     string        // of omega, that Rule.Factor gives; "" for the whole
	Window   int           // the last so many blocks; 0 for all
	HalfLife float64       // of exponential forgetting, in units of time; 0 for none
	Power    float64       // the weight is (1 + age)^-Power, with the age in blocks; 0 for none
	Season   bool          // only blocks of the test block's phase, see Task.inPhase
}

// String is the weighting's name, as "conditional, half-life 4".
func (w Weighting) String() string {
	var parts []string
	if w.Kind != "" {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s", w.Kind, w.Part)))
	}
	if w.Season {
		parts = append(parts, Season)
	}
	if parts = append(parts, w.ofAge()...); len(parts) == 0 {
		return "uniform"
	}
	return strings.Join(parts, ", ")
}

// ofAge names its functions of age. A new one has a field, its name here, and a line in Task.weights.
func (w Weighting) ofAge() (names []string) {
	for _, f := range []struct {
		name  string
		value float64
	}{{"last", float64(w.Window)}, {"half-life", w.HalfLife}, {"power", w.Power}} {
		if f.value > 0 {
			names = append(names, fmt.Sprintf("%s %g", f.name, f.value))
		}
	}
	return names
}
