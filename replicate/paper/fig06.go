package paper

import "slices"

// Fig6 declares Figure 6: CIFAR-10c, accuracy and scores.
//
// Panel a shows test accuracy on step t + 1 relative to Everything, under the slowest of the three label shifts (T =
// 30). Panel b shows our score and the exact score of the samples of each time t, seen from the last step.
//
// The paper claims: Ours is better than the others; Recent is worst.
//
// Command: go run ./replicate fig6 [--scale tiny|small|medium|paper] [--panel a,b]
//
// Result at the small scale: 3 claims: 2 hold, 1 is undecided; not counted: 1 holds; see figures/gallery/fig06.
func Fig6() Figure {
	return Figure{
		Number: 6,
		Time:   "8 min",
		Title:  "Figure 6: CIFAR-10c",
		Caption: "a: " + relativeCaption + " b: mean over the samples of time t of min(omega, 1), " +
			"seen from the last step; " +
			"its exact value is 1 - TV(p_t, p_T).",
		Panels: []Panel{
			imagePanel("a", "CIFAR-10c (30 steps a shift), accuracy", "cifar10c").judgedBy(cifar10cSample),
			scorePanel("b", "CIFAR-10c, score by time", "cifar10c", "exact", "ours"),
		},
		Claims: []Claim{
			{
				ID:    "fig6a-ours-everything",
				Text:  "On CIFAR-10c, Ours is better than Everything",
				Short: "Ours beats Everything",
				Place: "caption of Fig. 6",
				Says:  `"the effectiveness of our method compared to others"`,
				Parts: better("a", "ours", "everything"),
			},
			{
				ID:    "fig6a-ours-others",
				Text:  "On CIFAR-10c, Ours is better than Fine-tune and Recent",
				Short: "Ours beats Fine-tune and Recent",
				Place: "caption of Fig. 6",
				Says:  `"the effectiveness of our method compared to others"`,
				Parts: slices.Concat(better("a", "ours", "finetune"), better("a", "ours", "recent")),
			},
			{
				ID:    "fig6a-recent-worst",
				Text:  "On CIFAR-10c, Recent is worse than Everything and Fine-tune",
				Short: "Recent is the worst",
				Place: "caption of Fig. 6",
				Says:  `Recent "performs the worst in the image benchmarks"`,
				Parts: slices.Concat(worse("a", "recent", "everything"), worse("a", "recent", "finetune")),
			},
			{
				ID:    "fig6b-ours-follows",
				Text:  "Our score follows the exact one over time",
				Short: "our score follows the exact one",
				Place: "Fig. 6b",
				Says:  "the text does not describe their course (the bound of 0.5 is ours)",
				Parts: []Part{{Panel: "b", Series: "ours", Base: "exact", Statistic: Correlation, Bound: .5}},
				New:   true,
			},
		},
	}
}
