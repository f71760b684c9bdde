package paper

// Fig13 declares Figure 13: the number of samples a step.
//
// Panels a to d show panel c of Figure 1 (CIFAR-10b) with N = 200, 50, 100 and 300 samples a step.
//
// The paper claims: for every N, Ours consistently outperforms Everything.
//
// Command: go run ./replicate fig13 [--scale tiny|small|paper] [--panel a,b,c,d]
//
// Result at the small scale: 2 claims: 2 hold; see figures/gallery/fig13.
//
// Time at the small scale on two cores: 22 min, after Figure 1, whose runs it shares.
func Fig13() Figure {
	return Figure{
		Number:  13,
		Time:    "22 min",
		Shares:  "1: 200 samples",
		Title:   "Figure 13: 50, 100, 200 and 300 samples a step",
		Caption: relativeCaption,
		Panels: []Panel{
			{
				Key:       "a",
				Title:     "CIFAR-10b, 200 samples a step",
				Scenario:  "cifar10b",
				Set:       []string{"n=200"},
				Series:    onImages,
				MeanLines: recentLine,
			},
			{
				Key:       "b",
				Title:     "CIFAR-10b, 50 samples a step",
				Scenario:  "cifar10b",
				Set:       []string{"n=50"},
				Series:    onImages,
				MeanLines: recentLine,
			},
			{
				Key:       "c",
				Title:     "CIFAR-10b, 100 samples a step",
				Scenario:  "cifar10b",
				Set:       []string{"n=100"},
				Series:    onImages,
				MeanLines: recentLine,
			},
			{
				Key:       "d",
				Title:     "CIFAR-10b, 300 samples a step",
				Scenario:  "cifar10b",
				Set:       []string{"n=300"},
				Series:    onImages,
				MeanLines: recentLine,
			},
		},
		Claims: []Claim{
			{
				ID:    "fig13-ours-everything",
				Text:  "Ours is better than Everything at every number of samples",
				Place: "Appendix C, Number of samples; caption of Fig. 13",
				Says:  `"our methods consistently outperform Everything"`,
				Parts: atEveryN(""),
			},
			{
				ID:    "fig13-consistent",
				Text:  "Ours is above Everything at most time steps at every number of samples",
				Place: "Appendix C, Number of samples; caption of Fig. 13",
				Says: `"our methods consistently outperform Everything" (more than half of the steps is ` +
					"our reading)",
				Parts: atEveryN(Share),
			},
		},
	}
}

var _ = add(Fig13())

// atEveryN returns the part "Ours against Everything" for each panel, with this statistic.
func atEveryN(s Statistic) []Part {
	bound, margin := map[Statistic]float64{Share: .5}[s], map[Statistic]float64{"": Margin}[s]
	var out []Part
	for _, panel := range []string{"a", "b", "c", "d"} {
		out = append(out, Part{Panel: panel, Series: "ours", Base: "everything", Statistic: s, Bound: bound,
			Margin: margin})
	}
	return out
}
