package lab_test

import (
	"tvps/figures"
	"tvps/replicate/continual"
)

// lastTen learns from the last ten steps, weighted equally.
var lastTen = continual.Declare(continual.Learner{
	Look: figures.Look{Name: "last-ten", Label: "Last ten steps", Color: "#8c564b"},
	Phases: []continual.Phase{{
		Steps:  func(t int) (first, last int) { return max(0, t-9), t },
		Epochs: func(s continual.Settings) int { return s.Epochs },
	}},
})
