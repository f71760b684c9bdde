package lab_test

import (
	"tvps/figures/looks"
	"tvps/replicate/supervised"
)

// lastTen learns from the last ten steps, weighted equally.
var lastTen = supervised.Declare(supervised.Learner{
	Look: looks.Look{Name: "last-ten", Label: "Last ten steps", Color: "#8c564b"},
	Phases: []supervised.Phase{{
		Steps:  func(t int) (first, last int) { return max(0, t-9), t },
		Epochs: func(s supervised.Settings) int { return s.Epochs },
	}},
})
