package paper

// Fig4 declares Figure 4: Meta-Weight-Net next to the learners of Figure 1.
//
// Panels a and b show panels a (Gaussian) and d (CLEAR) of Figure 1 with Meta-Weight-Net (Shu et al. 2019) as another
// baseline. Its meta set is the data of the last step.
//
// The paper claims: Ours is effective in both, and better than Meta-Weight-Net.
//
// Command: go run ./replicate fig4 [--scale tiny|small|paper] [--panel a,b]
//
// Result at the small scale: 2 claims: 2 hold; 1 repeats another; CLEAR not tested; see figures/gallery/fig04.
func Fig4() Figure {
	return Figure{
		Number:  4,
		Time:    "3 min",
		Shares:  "1",
		Title:   "Figure 4: Meta-Weight-Net",
		Caption: relativeCaption,
		Panels: []Panel{
			{Key: "a", Title: "Drifting Gaussian", Scenario: "gaussian", Series: withMeta, Judged: metaWeightSamples},
			{Key: "b", Title: "CLEAR (30 steps a shift)", Scenario: "clear", Series: withMeta, MeanLines: recentLine},
		},
		Claims: []Claim{
			{
				ID:    "fig4-ours-metaweightnet",
				Text:  "Ours is better than Meta-Weight-Net",
				Short: "Ours beats Meta-Weight-Net",
				Place: "caption of Fig. 4; Section 3.1.3",
				Says:  `"it is performs better than Meta-Weight-Net"`,
				Parts: better("ab", "ours", "metaweightnet"),
			},
			{
				ID:    "fig4-ours-everything",
				Text:  "Ours is better than Everything, on the Gaussian and on CLEAR",
				Short: "Ours beats Everything",
				Place: "caption of Fig. 4",
				Says:  `"our method is effective regardless of the specific setting"`,
				Parts: better("ab", "ours", "everything"),
				Twin:  "fig1a-ours-everything",
			},
		},
	}
}

var withMeta = []string{"everything", "recent", "finetune", "metaweightnet", "ours"}
