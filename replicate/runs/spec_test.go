package runs

import (
	"testing"

	"tvps/ci/demand"
)

// The golden value keeps stored results valid: change it only when every
// stored run must be computed again.
func TestIDIsStable(t *testing.T) {
	if got, want := spec(0).ID(), "9ee228d2a3860ece"; got != want {
		t.Errorf("ID = %s, want %s", got, want)
	}
	empty := Spec{Experiment: "e", Learner: "l"}
	made := Spec{Experiment: "e", Learner: "l", Settings: map[string]string{}}
	if empty.ID() != made.ID() {
		t.Error("nil and empty settings have different IDs")
	}
}

func TestIDChangesWithEachField(t *testing.T) {
	changes := map[string]func(*Spec){
		"nothing":       func(*Spec) {},
		"experiment":    func(s *Spec) { s.Experiment = "other" },
		"learner":       func(s *Spec) { s.Learner = "recent" },
		"seed":          func(s *Spec) { s.Seed = 1 },
		"setting":       func(s *Spec) { s.Settings["lr"] = "0.2" },
		"new setting":   func(s *Spec) { s.Settings["clip"] = "" },
		"fewer":         func(s *Spec) { delete(s.Settings, "lr") },
		"value as name": func(s *Spec) { s.Settings = map[string]string{"epochs": "0.1", "lr": "20"} },
	}
	seen := map[string]string{}
	for name, change := range changes {
		s := spec(0)
		change(&s)
		if other, ok := seen[s.ID()]; ok {
			t.Errorf("%q and %q have the same ID", name, other)
		}
		seen[s.ID()] = name
	}
}

// What cannot be stored is refused before a step is computed.
func TestJobsThatCannotBeKept(t *testing.T) {
	refused := func(change func(*Job)) error {
		t.Helper()
		job := testJob(0, upTo(1), nil) // which cannot count
		change(&job)
		_, err := Execute(t.Context(), open(t, t.TempDir()), []Job{job}, Options{})
		return err
	}
	for _, name := range []string{"", "..", "a/b", ".hidden", "a\xff", "../up"} {
		if refused(func(j *Job) { j.Spec.Experiment = name }) == nil {
			t.Errorf("experiment %q passes", name)
		}
	}
	demand.Error(t, refused(func(j *Job) { j.Spec.Settings["name"] = "\xff" }), "UTF-8")
	demand.Error(t, refused(func(j *Job) { j.Steps = nil }), "steps")
}
