package paper

// Fig14 declares Figure 14: no shift at all.
//
// The panel shows the test accuracy of Ours and Everything on CIFAR-10 if all classes are equally likely at all times.
//
// The paper claims: both perform similarly, so omega does no harm.
//
// Command: go run ./replicate fig14 [--scale tiny|small|medium|paper]
//
// Result at the small scale: 1 claim holds; see figures/gallery/fig14.
func Fig14() Figure {
	return Figure{
		Number: 14,
		Time:   "4 min",
		Title:  "Figure 14: CIFAR-10 without a shift",
		Caption: "Each point is the test accuracy at step t + 1 of models retrained at step t. " +
			Bands,
		Panels: []Panel{
			{
				Key:      "a",
				Title:    "CIFAR-10 without a shift",
				Scenario: "noshift",
				Series:   []string{"everything", "ours"},
				Absolute: true,
			},
		},
		Claims: []Claim{
			{
				ID:    "fig14-similar",
				Text:  "Without a shift, Ours is within 0.3 points of Everything",
				Short: "without a shift, Ours is at most 0.3 points from Everything",
				Place: "Appendix C, No Shift; caption of Fig. 14",
				Says:  `"our method and Everything perform similarly" (the 0.3 points are ours)`,
				Parts: []Part{{Panel: "a", Series: "ours", Base: "everything", Test: Within, Bound: Margin}},
				Was: &Wording{"within 1 point", []Part{{Panel: "a", Series: "ours", Base: "everything", Test: Within,
					Bound: .01}}},
			},
		},
	}
}
