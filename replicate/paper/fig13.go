package paper

import "fmt"

// Fig13 declares Figure 13: the number of samples a step.
//
// Panels a to d show panel c of Figure 1 (CIFAR-10b) with N = 200, 50, 100 and 300 samples a step.
//
// The paper claims: for every N, Ours consistently outperforms Everything.
//
// Command: go run ./replicate fig13 [--scale tiny|small|medium|paper] [--panel a,b,c,d]
//
// Result at the small scale: 2 claims: 2 hold; not counted: 1 holds; see figures/gallery/fig13.
func Fig13() Figure {
	return Figure{
		Number:  13,
		Time:    "22 min",
		Shares:  "1: 200 samples",
		Title:   "Figure 13: 50, 100, 200 and 300 samples a step",
		Caption: relativeCaption,
		Panels: []Panel{ofSamples("a", 200).judgedBy(cifar10bSample), ofSamples("b", 50), ofSamples("c", 100),
			ofSamples("d", 300).judgedBy(manySamplesSample)},
		Claims: []Claim{
			{
				ID:    "fig13-ours-everything",
				Text:  "Ours is better than Everything at every number of samples",
				Short: "Ours beats Everything at every number of samples",
				Place: "Appendix C, Number of samples; caption of Fig. 13",
				Says:  `"our methods consistently outperform Everything"`,
				Parts: better("abcd", "ours", "everything"),
			},
			{
				ID:    "fig13-consistent",
				Text:  "Ours is above Everything at most time steps at every number of samples",
				Short: "it does so at most steps",
				Place: "Appendix C, Number of samples; caption of Fig. 13",
				Says: `"our methods consistently outperform Everything" (more than half of the steps is ` +
					"our reading)",
				Parts: inPanels("abcd", Part{Series: "ours", Base: "everything", Statistic: Share, Bound: .5}),
			},
			{
				ID: "fig13-ours-finetune",
				Text: "Ours is better than Fine-tune with 50, 100 and 200 samples a step; with 300 its advantage is below 1 " +
					"point",
				Place: "not in the paper",
				Says:  "the paper speaks of Everything",
				Parts: append(better("bca", "ours", "finetune"),
					Part{Panel: "d", Series: "ours", Base: "finetune", Test: Below, Bound: .01}),
				New: true,
			},
		},
	}
}

// ofSamples is panel c of Figure 1 with so many samples a step.
func ofSamples(key string, n int) Panel {
	p := imagePanel(key, fmt.Sprintf("CIFAR-10b, %d samples a step", n), "cifar10b")
	p.Set = []string{fmt.Sprint("n=", n)}
	return p
}
