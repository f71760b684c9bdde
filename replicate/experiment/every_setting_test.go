package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
)

// TestEverySetting gives settings of every scenario and scale values that suit them and values that do not. A refused
// list is an error of one sentence. A list that is accepted gives settings whose texts give the same settings again,
// and whose steps lie in their length, ascending.
func TestEverySetting(t *testing.T) {
	for _, p := range []*experiment.Protocol{&supervised.Protocol, &robots.Protocol} {
		for _, scenario := range p.Scenarios() {
			for _, scale := range experiment.Scales {
				s, err := p.At(scenario, scale)
				if err != nil { // not every scenario has every scale
					continue
				}
				for _, field := range s.Fields() {
					for _, value := range []string{field.Value, "0", "-1", "7", "1e9", "nearest", "true"} {
						checkChanged(t, s, field.Name+"="+value)
					}
					if _, err := s.With(field.Name, "9223372036854775807"); err == nil {
						t.Errorf("%s, %s: %s takes a number without a meaning", scenario, scale, field.Name)
					}
				}
			}
		}
	}
	s, err := supervised.At("gaussian", experiment.Small)
	demand.NoError(t, err)
	checkChanged(t, s, "steps=1000", "stride=3", "first=999")
	checkChanged(t, s, "steps")
}

// checkChanged checks settings that are changed by a list.
func checkChanged(t *testing.T, before experiment.Setup, list ...string) {
	t.Helper()
	s, err := experiment.Apply(before, list)
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: an error of several lines: %q", list, err)
		}
		return
	}
	var all []string
	for _, field := range s.Fields() {
		all = append(all, field.Name+"="+field.Value)
	}
	if again, err := experiment.Apply(before, all); err != nil || again != s {
		t.Errorf("%q gives %v, read again %v, %v", list, s, again, err)
	}
	steps := s.PlannedSteps()
	if len(steps) == 0 || !slices.IsSorted(steps) || steps[0] < 0 || steps[len(steps)-1] > s.Length() {
		t.Errorf("%q: %d steps of %d", list, len(steps), s.Length())
	}
}
