package paper

import "context"

// Figure 12: three seeds against eight.
//
// What it shows: panels b and c of Figure 1 with the first three seeds (a, b) and with eight
// (c, d).
//
// What the paper claims: the results are consistent.
//
// Command: go run ./replicate fig12 [--scale tiny|small|paper] [--panel a,b,c,d] [--seeds 0-7]
//
// Time on two cores: see README.md, "Figures".
var fig12 = Figure{
	Number:  12,
	Name:    "fig12",
	Title:   "Figure 12: three seeds against eight",
	Caption: relativeCaption,
	Seeds:   "0-7",
	Panels: []Panel{
		{Key: "a", Title: "CIFAR-10a, the first 3 seeds", Scenario: "cifar10a", Series: onImages, MeanLines: recentLine, Take: 3},
		{Key: "b", Title: "CIFAR-10b, the first 3 seeds", Scenario: "cifar10b", Series: onImages, MeanLines: recentLine, Take: 3},
		{Key: "c", Title: "CIFAR-10a, all seeds", Scenario: "cifar10a", Series: onImages, MeanLines: recentLine},
		{Key: "d", Title: "CIFAR-10b, all seeds", Scenario: "cifar10b", Series: onImages, MeanLines: recentLine},
	},
	Claims: []Claim{
		{ID: "fig12-3-seeds", Text: "With 3 seeds, Ours is better than Everything", Place: "caption of Fig. 12",
			Says: "\"the consistency of our method across both 3 seeds and 8 seeds\"", Parts: []Part{
				{Panel: "a", Series: "ours", Base: "everything"}, {Panel: "b", Series: "ours", Base: "everything"}}},
		{ID: "fig12-8-seeds", Text: "With 8 seeds, Ours is better than Everything", Place: "caption of Fig. 12",
			Says: "\"the consistency of our method across both 3 seeds and 8 seeds\"", Parts: []Part{
				{Panel: "c", Series: "ours", Base: "everything"}, {Panel: "d", Series: "ours", Base: "everything"}}},
		{ID: "fig12-8-seeds-order", Text: "With 8 seeds, Recent is worse than Everything", Place: "Fig. 12; caption of Fig. 1",
			Says: "draws the mean of Recent below Everything", Parts: []Part{
				{Panel: "c", Series: "recent", Base: "everything", Test: Below}, {Panel: "d", Series: "recent", Base: "everything", Test: Below}}},
	},
}

// Fig12 computes what is missing of Figure 12 and draws it.
func Fig12(ctx context.Context, lab *Lab, o Options) (*Result, error) {
	return lab.figure(ctx, fig12, o)
}
