package experiment_test

import (
	"fmt"

	"tvps/replicate/experiment"
)

// tank is a struct of settings: its tags are their names, meanings and the part of a run that they change.
type tank struct {
	Shape string `set:"shape" of:"look" doc:"its form"`
	Sides int    `set:"sides" of:"look" doc:"how many"`
}

func ExampleRules_Set() {
	rules := experiment.Rules{Choices: map[string][]string{"shape": {"round", "angular"}}}
	settings := tank{Shape: "round", Sides: 4}
	fmt.Println(rules.Set(&settings, "sides", "6"), settings)
	fmt.Println(rules.Set(&settings, "shape", "angular"), settings)
	// Output:
	// <nil> {round 6}
	// <nil> {angular 6}
}

// What identifies a run: settings by name, as text.
func ExampleIdentity() {
	fmt.Println(experiment.Identity(tank{Shape: "round", Sides: 4}, "look"))
	// Output: map[shape:round sides:4]
}
