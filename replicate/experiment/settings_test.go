package experiment

import (
	"maps"
	"slices"
	"testing"

	"tvps/ci/demand"
)

type sample struct {
	Shape string  `set:"shape" of:"look" doc:"its form"`
	Sides int     `set:"sides" of:"look" doc:"how many"`
	Size  float64 `set:"size" of:"place" doc:"how large"`
	Empty bool    `set:"empty" of:"look" was:"false" doc:"whether it is filled"`
}

var rules = Rules{Choices: map[string][]string{"shape": {"round", "angular"}}, Minimum: map[string]int{"sides": 0},
	Maximum: map[string]int{"sides": 12}}

func TestSet(t *testing.T) {
	var s sample
	for _, f := range []Field{{Name: "shape", Value: "round"}, {Name: "sides", Value: "0"},
		{Name: "size", Value: "1e-3"}, {Name: "empty", Value: "true"}} {
		demand.NoError(t, rules.Set(&s, f.Name, f.Value))
	}
	if want := (sample{"round", 0, .001, true}); s != want || rules.Check(s) != nil {
		t.Errorf("%+v, want %+v; %v", s, want, rules.Check(s))
	}
	if got, want := Fields(s), []Field{{"shape", "round", "its form", "look"}, {"sides", "0", "how many", "look"},
		{"size", "0.001", "how large", "place"}, {"empty", "true", "whether it is filled",
			"look"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestIdentity: a setting that came later is not in the identity if it has its old value.
func TestIdentity(t *testing.T) {
	s := sample{Shape: "round", Empty: true}
	want := map[string]string{"shape": "round", "sides": "0", "empty": "true"}
	if got := Identity(s, "look"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.Empty = false
	delete(want, "empty")
	if got := Identity(s, "look"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSetErrors: errors name the setting, the valid values and the nearest name.
func TestSetErrors(t *testing.T) {
	for _, c := range []struct {
		name, value string
		words       []string
	}{
		{"shapes", "round", []string{`"shapes"`, `did you mean "shape"`}},
		{"shape", "rond", []string{"shape=rond", "round, angular", `did you mean "round"`}},
		{"sides", "2.5", []string{"sides=2.5", "whole number"}},
		{"sides", "-1", []string{"sides=-1", "at least 0"}},
		{"sides", "13", []string{"sides=13", "at most 12"}},
		{"sides", "9223372036854775808", []string{"whole number"}},
		{"size", "1e300", []string{"at most 100000000"}},
		{"size", "0", []string{"size=0", "positive"}},
		{"size", "large", []string{"size=large", "a number"}},
		{"size", "NaN", []string{"finite"}},
		{"size", "Inf", []string{"finite"}},
		{"size", "-0", []string{"positive"}},
		{"empty", "perhaps", []string{"true or false"}},
	} {
		before := sample{Shape: "round", Size: 1}
		s := before
		demand.Error(t, rules.Set(&s, c.name, c.value), c.words...)
		demand.Equal(t, s, before, "settings after %s=%s", c.name, c.value)
	}
	demand.Error(t, rules.Set(new(sample), "colour", "red"), `no setting "colour"`, "--show-config")
	demand.Error(t, rules.Check(sample{Shape: "flat", Size: 1}), "shape=flat")
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "single", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 21: "21st", 112: "112th"} {
		demand.Equal(t, Ordinal(n), want, "%d", n)
	}
}
