package paper

// Fig7 declares Figure 7: Figure 1 without Recent and Fine-tune.
//
// The panels show Ours relative to Everything on CIFAR-10a, CIFAR-10b and CLEAR, with axes that fit these two. All
// runs are those of Figure 1.
//
// The paper claims: Ours is consistently better than Everything.
//
// Command: go run ./replicate fig7 [--scale tiny|small|medium|paper] [--panel a,b,c]
//
// Result at the small scale: 1 claim holds; CLEAR not tested; see figures/gallery/fig07.
func Fig7() Figure {
	return Figure{
		Number:  7,
		Time:    "1 s",
		Shares:  "1: all",
		Title:   "Figure 7: Figure 1 without Recent and Fine-tune",
		Caption: relativeCaption + " The runs are those of Figure 1.",
		Panels: []Panel{
			{Key: "a", Title: "CIFAR-10a (9 steps a shift)", Scenario: "cifar10a", Series: []string{"everything", "ours"},
				Judged: []Sample{cifar10aSample, imagesSample}},
			{Key: "b", Title: "CIFAR-10b (6 steps a shift)", Scenario: "cifar10b", Series: []string{"everything", "ours"},
				Judged: []Sample{cifar10bSample, imagesSample}},
			{Key: "c", Title: "CLEAR (30 steps a shift)", Scenario: "clear", Series: []string{"everything", "ours"}},
		},
		Claims: []Claim{
			{
				ID:    "fig7-ours-consistent",
				Text:  "Ours is above Everything at most time steps",
				Short: "Ours is above Everything at most steps",
				Place: "captions of Fig. 1 and 7",
				Says: `"the only approach that consistently maintains its effectiveness" (more than half ` +
					"of the steps is our reading)",
				Parts: inPanels("abc", Part{Series: "ours", Base: "everything", Statistic: Share, Bound: .5}),
			},
		},
	}
}
