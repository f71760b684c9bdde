package paper

// Fig12 declares Figure 12: three seeds against eight.
//
// Panels a and b show panels b and c of Figure 1 with the first three seeds; panels c and d show them with eight.
//
// The paper claims: the results are consistent.
//
// Command: go run ./replicate fig12 [--scale tiny|small|medium|paper] [--panel a,b,c,d] [--seeds 0-7]
//
// Result at the small scale: 4 claims: 2 hold, 1 does not hold, 1 is undecided; 2 repeat another; see
// figures/gallery/fig12.
func Fig12() Figure {
	return Figure{
		Number:  12,
		Time:    "26 min",
		Shares:  "1: the first 3 seeds",
		Title:   "Figure 12: three seeds against eight",
		Caption: relativeCaption,
		Seeds:   "0-7",
		Panels: []Panel{
			firstThree(imagePanel("a", "CIFAR-10a, the first 3 seeds", "cifar10a").judgedBy(cifar10aSample, eightSample)),
			firstThree(imagePanel("b", "CIFAR-10b, the first 3 seeds", "cifar10b").judgedBy(cifar10bSample, eightSample)),
			imagePanel("c", "CIFAR-10a, all seeds", "cifar10a").judgedBy(cifar10aSample, eightSample),
			imagePanel("d", "CIFAR-10b, all seeds", "cifar10b").judgedBy(cifar10bSample, eightSample),
		},
		Claims: []Claim{
			{
				ID:    "fig12-3-seeds",
				Text:  "With 3 seeds, Ours is better than Everything",
				Short: "Ours beats Everything with 3 seeds",
				Place: "caption of Fig. 12",
				Says:  `"the consistency of our method across both 3 seeds and 8 seeds"`,
				Parts: better("ab", "ours", "everything"),
			},
			{
				ID:    "fig12-8-seeds",
				Text:  "With 8 seeds, Ours is better than Everything",
				Short: "Ours beats Everything with 8 seeds",
				Place: "caption of Fig. 12",
				Says:  `"the consistency of our method across both 3 seeds and 8 seeds"`,
				Parts: better("cd", "ours", "everything"),
				Twin:  "fig1-ours-everything",
			},
			{
				ID:    "fig12-8-seeds-order",
				Text:  "With 8 seeds, Recent is worse than Everything",
				Short: "Recent is worse than Everything with 8 seeds",
				Place: "Fig. 12; caption of Fig. 1",
				Says:  `says of Fig. 1 that Recent "performs the worst in the image benchmarks"`,
				Parts: worse("cd", "recent", "everything"),
				Twin:  "fig1-recent-everything",
			},
			{
				ID: "fig12-others",
				Text: "Ours, Recent and Fine-tune differ from Everything by the same with 3 seeds as with further ones, " +
					"within 0.3 points",
				Place: "caption of Fig. 12",
				Says:  `"the consistency of our method across both 3 seeds and 8 seeds" (the 0.3 points are ours)`,
				Parts: sameWithMore(Margin),
				Was:   &Wording{"within 1 point", sameWithMore(.01)},
				Note:  "the first three seeds alone leave ±0.4 to ±1.5 points, so no number of further seeds would show 0.3",
			},
		},
	}
}

// firstThree is the panel with the first three of the figure's seeds.
func firstThree(p Panel) Panel {
	p.Take = 3
	return p
}

// sameWithMore claims that Ours, Recent and Fine-tune differ from Everything by the same with further seeds, within a
// bound.
func sameWithMore(bound float64) (parts []Part) {
	for _, series := range []string{"ours", "recent", "finetune"} {
		parts = append(parts, inPanels("cd", Part{Series: series, Base: "everything", Statistic: Further, Test: Within,
			Bound: bound})...)
	}
	return parts
}
