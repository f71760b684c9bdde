package robots

import (
	"math"
	"strconv"
	"testing"

	"tvps/ci/demand"
)

func TestErrors(t *testing.T) {
	h, s := carts(t), miniature()
	for _, c := range []struct {
		name, value string
		words       []string
	}{
		{"every", "17", []string{"every=17", "16 episodes"}}, {"valves", "11", []string{"valves=11", "10"}},
		{"scenario", "cheeta", []string{`did you mean "cheetah"`}},
		{"g-layers", "1", []string{"omega layers"}}, {"g-network", "conv5", []string{"g-network", "deep, fc3, mlp"}}, {"gamma", "2", []string{"gamma"}}, {"batch", "0", []string{"batch=0"}},
		{"evaluate", "all", []string{"tasks", "coming"}},
		{"replay", "4194305", []string{"replay=4194305", "at most 4194304"}}, {"tau", "1.1", []string{"at most 1"}},
		{"evaluate-episodes", "10001", []string{"at most 10000"}}, {"episodes", "10000001", []string{"at most 10000000"}},
	} {
		bad, err := s.With(c.name, c.value)
		if err == nil {
			_, err = bad.Jobs(h, []string{"sac"}, []int64{0}, "")
		} else if bad != nil {
			t.Errorf("%s=%s: settings with an error", c.name, c.value)
		}
		demand.Error(t, err, c.words...)
	}
	_, err := s.Jobs(h, []string{"sac-omge"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `did you mean "sac-omega"`)
	_, err = s.Jobs(h, []string{"constant"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `"constant"`, "cheetah", "cart")
	_, err = s.Jobs(h, []string{"sac"}, []int64{0}, "accuracy")
	demand.Error(t, err, "accuracy", "return")
}

// TestBounds: every number has bounds that refuse what no machine can compute and what makes no sense.
func TestBounds(t *testing.T) {
	for _, f := range miniature().Fields() {
		if _, err := strconv.ParseFloat(f.Value, 64); err != nil {
			continue
		}
		for _, value := range []string{"-1", "100000001", strconv.Itoa(math.MaxInt), "1e400", "NaN"} {
			if _, err := miniature().With(f.Name, value); err == nil {
				t.Errorf("%s=%s is accepted", f.Name, value)
			} else {
				demand.Error(t, err, "setting "+f.Name)
			}
		}
	}
}

// TestNewSettingsInIdentity: settings that are younger than stored runs are part of a run's identity unless they have
// the value that those runs were made with: the number of XLA's threads, on which rounding depends, and the network of
// g. References use no backend, and SAC alone has no g.
func TestNewSettingsInIdentity(t *testing.T) {
	for _, c := range []struct{ series, name, value, want string }{
		{"sac", "threads", "0", ""}, {"sac", "threads", "1", "1"}, {"nothing", "threads", "1", ""},
		{"sac-omega", "g-network", "deep", ""}, {"sac-omega", "g-network", "fc3", "fc3"}, {"sac", "g-network", "fc3", ""},
	} {
		s, err := miniature().With(c.name, c.value)
		demand.NoError(t, err)
		outlines, err := s.Outlines([]string{c.series}, MeasureReturn)
		demand.NoError(t, err)
		if got := outlines[0].Settings[c.name]; got != c.want {
			t.Errorf("%s with %s=%s: %q in the identity, want %q", c.series, c.name, c.value, got, c.want)
		}
	}
}
