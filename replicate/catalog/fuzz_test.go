package catalog

import (
	"slices"
	"strings"
	"testing"

	"tvps/replicate/protocol"
	"tvps/replicate/settings"
)

// FuzzSettings sets values of all settings of every scenario and scale, one name=value a line, as --set does. A refused
// list is an error of one sentence. A list that is accepted gives settings whose texts give the same settings again,
// and whose steps lie in their length, ascending.
func FuzzSettings(f *testing.F) {
	scales := settings.Scales
	var starts []protocol.Setup
	for _, p := range Paper().Protocols {
		for _, scenario := range p.Scenarios() {
			for _, scale := range scales {
				s, err := p.At(scenario, scale)
				if err != nil { // not every scenario has every scale
					continue
				}
				for _, field := range s.Fields() {
					for _, value := range []string{field.Value, "0", "-1", "7", "1e9", "nearest", "true"} {
						f.Add(uint8(len(starts)), field.Name+"="+value)
					}
				}
				starts = append(starts, s)
			}
		}
	}
	f.Add(uint8(0), "epochs=3\nsteps=1000\nfirst=999")
	f.Add(uint8(0), "steps")
	f.Fuzz(func(t *testing.T, start uint8, text string) {
		before := starts[int(start)%len(starts)]
		list := strings.Split(text, "\n")
		s, err := protocol.Apply(before, list)
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
		if again, err := protocol.Apply(before, all); err != nil || again != s {
			t.Errorf("%q gives %v, read again %v, %v", list, s, again, err)
		}
		steps := s.PlannedSteps()
		if len(steps) == 0 || !slices.IsSorted(steps) || steps[0] < 0 || steps[len(steps)-1] > s.Length() {
			t.Errorf("%q: %d steps of %d", list, len(steps), s.Length())
		}
	})
}
