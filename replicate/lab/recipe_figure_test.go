package lab_test

import "tvps/replicate/paper"

// Fig15 declares Figure 15: a window against Ours where the rule from x to y drifts.
//
// Command: go run ./replicate fig15 [--scale tiny|small|paper]
func Fig15() paper.Figure {
	return paper.Figure{
		Number:  15,
		Title:   "Figure 15: a window against Ours",
		Caption: "Each point is the test accuracy at step t + 1 of models trained at step t, minus that of Everything.",
		Panels: []paper.Panel{
			{Key: "a", Title: "Moving threshold", Scenario: "threshold", Series: []string{"everything", "last-ten", "ours"}},
		},
		Claims: []paper.Claim{{
			ID: "fig15-window", Text: "The last ten steps are better than all steps", Place: "nowhere", Says: "an example",
			Parts: []paper.Part{{Panel: "a", Series: "last-ten", Base: "everything"}},
		}},
	}
}
