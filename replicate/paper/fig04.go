package paper

import "context"

// Figure 4: Meta-Weight-Net beside the learners of Figure 1.
//
// What it shows: panels a (Gaussian) and d (CLEAR) of Figure 1 with Meta-Weight-Net (Shu et
// al. 2019) as one more baseline. Its meta set is the data of the latest step.
//
// What the paper claims: Ours is effective in both, and better than Meta-Weight-Net.
//
// Command: go run ./replicate fig4 [--scale tiny|small|paper] [--panel a,b]
//
// Time on two cores: see README.md, "Figures".
var fig04 = Figure{
	Number:  4,
	Name:    "fig04",
	Title:   "Figure 4: Meta-Weight-Net",
	Caption: relativeCaption,
	Panels: []Panel{
		{Key: "a", Title: "Drifting Gaussian", Scenario: "gaussian", Series: withMeta},
		{Key: "b", Title: "CLEAR (T = 30)", Scenario: "clear", Series: withMeta, MeanLines: recentLine},
	},
	Claims: []Claim{
		{ID: "fig4-ours-metaweightnet", Text: "Ours is better than Meta-Weight-Net", Place: "caption of Fig. 4; Section 3.1.3",
			Says: "\"it is performs better than Meta-Weight-Net\"", Parts: []Part{
				{Panel: "a", Series: "ours", Base: "metaweightnet"}, {Panel: "b", Series: "ours", Base: "metaweightnet"}}},
		{ID: "fig4-ours-everything", Text: "Ours is better than Everything, on the Gaussian and on CLEAR", Place: "caption of Fig. 4",
			Says: "\"our method is effective regardless of the specific setting\"", Parts: []Part{
				{Panel: "a", Series: "ours", Base: "everything"}, {Panel: "b", Series: "ours", Base: "everything"}}},
	},
}

var withMeta = []string{"everything", "recent", "finetune", "metaweightnet", "ours"}

// Fig4 computes what is missing of Figure 4 and draws it.
func Fig4(ctx context.Context, lab *Lab, o Options) (*Result, error) {
	return lab.figure(ctx, fig04, o)
}
