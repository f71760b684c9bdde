package paper

import (
	"strings"
	"testing"
)

// TestNotesOfAllSettings: notes of claims are on pages of all settings, so none tells how many checkpoints there are,
// which the setting checkpoint decides and panels say.
func TestNotesOfAllSettings(t *testing.T) {
	for _, f := range Figures() {
		for _, c := range f.Claims {
			if strings.Contains(c.Note, "for all seeds") {
				t.Errorf("%s: the note depends on a setting: %s", c.ID, c.Note)
			}
		}
	}
}
