package experiment

import (
	"fmt"
	"strings"

	"tvps/replicate/usage"
)

// Scale is the size of an experiment. It only selects values: a scenario lists its settings for each scale.
type Scale string

const (
	Tiny   Scale = "tiny"   // seconds to a minute a figure on two cores; for tests and CI
	Small  Scale = "small"  // seconds to half an hour a figure on two cores; the default
	Medium Scale = "medium" // hours to nights on two cores: images and robots that are trained as long as verdicts need; no other data has it
	Paper  Scale = "paper"  // the paper's sizes
)

// Scales lists all scales, smallest first.
var Scales = []Scale{Tiny, Small, Medium, Paper}

// ParseScale returns the scale of that name. The error names the nearest one.
func ParseScale(name string) (Scale, error) {
	var names []string
	for _, s := range Scales {
		if string(s) == name {
			return s, nil
		}
		names = append(names, string(s))
	}
	return "", fmt.Errorf("there is no scale %q%s (%s)", name, usage.Proposal(name, names), strings.Join(names, ", "))
}

// ByScale holds settings of type S for each declared scale.
type ByScale[S any] map[Scale]S

// At returns the settings of a scale. Errors: an unknown scale, or one that is not declared.
func (b ByScale[S]) At(scale Scale) (S, error) {
	s, ok := b[scale]
	if ok {
		return s, nil
	}
	if _, err := ParseScale(string(scale)); err != nil {
		return s, err
	}
	var declared []string
	for _, known := range Scales {
		if _, ok := b[known]; ok {
			declared = append(declared, string(known))
		}
	}
	return s, fmt.Errorf("there is no scale %s here; use %s", scale, strings.Join(declared, ", "))
}

// Split splits a setting of the form name=value. The name must not be empty.
func Split(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", fmt.Errorf("the setting %q is not of the form name=value", text)
	}
	return name, value, nil
}
