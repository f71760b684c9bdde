package paper

// Fig6 declares Figure 6: CIFAR-10c, accuracy and scores.
//
// Panel a shows test accuracy on step t + 1 relative to Everything, under the slowest of the three label shifts (T =
// 30). Panel b shows our score and the exact score of the samples of each time t, seen from the last step.
//
// The paper claims: Ours is better than the others; Recent is worst.
//
// Command: go run ./replicate fig6 [--scale tiny|small|paper] [--panel a,b]
//
// Result at the small scale: 4 claims: 3 hold, 1 is undecided; see figures/gallery/fig06.
//
// Time at the small scale on two cores: 8 min.
func Fig6() Figure {
	return Figure{
		Number: 6,
		Time:   "8 min",
		Title:  "Figure 6: CIFAR-10c",
		Caption: "a: " + relativeCaption + " b: mean over the samples of time t of min(omega, 1), " +
			"seen from the last step; " +
			"its exact value is 1 - TV(p_t, p_T).",
		Panels: []Panel{
			{
				Key:       "a",
				Title:     "CIFAR-10c (T = 30), accuracy",
				Scenario:  "cifar10c",
				Series:    onImages,
				MeanLines: recentLine,
			},
			{
				Key:      "b",
				Title:    "CIFAR-10c, score by time",
				Scenario: "cifar10c",
				Series:   []string{"exact", "ours"},
				Measure:  "score",
				YLabel:   scoreLabel,
				Absolute: true,
			},
		},
		Claims: []Claim{
			{
				ID:    "fig6a-ours-everything",
				Text:  "On CIFAR-10c, Ours is better than Everything",
				Place: "caption of Fig. 6",
				Says:  `"the effectiveness of our method compared to others"`,
				Parts: []Part{{Panel: "a", Series: "ours", Base: "everything", Margin: Margin}},
			},
			{
				ID:    "fig6a-ours-others",
				Text:  "On CIFAR-10c, Ours is better than Fine-tune and Recent",
				Place: "caption of Fig. 6",
				Says:  `"the effectiveness of our method compared to others"`,
				Parts: []Part{
					{Panel: "a", Series: "ours", Base: "finetune", Margin: Margin},
					{Panel: "a", Series: "ours", Base: "recent", Margin: Margin},
				},
			},
			{
				ID:    "fig6a-recent-worst",
				Text:  "On CIFAR-10c, Recent is worse than Everything and Fine-tune",
				Place: "caption of Fig. 6",
				Says:  `Recent "performs the worst in the image benchmarks"`,
				Parts: []Part{
					{Panel: "a", Series: "recent", Base: "everything", Test: Below, Margin: Margin},
					{Panel: "a", Series: "recent", Base: "finetune", Test: Below, Margin: Margin},
				},
			},
			{
				ID:    "fig6b-ours-follows",
				Text:  "Our score follows the exact one over time",
				Place: "Fig. 6b",
				Says:  "draws scores that rise and fall with the label shift (the bound of .5 is ours)",
				Parts: []Part{{Panel: "b", Series: "ours", Base: "exact", Statistic: Correlation, Bound: .5}},
			},
		},
	}
}

var _ = add(Fig6())
