package paper

import "context"

// Figure 1: relative test accuracy in continuous supervised learning.
//
// What it shows: at each time step t, the test accuracy on step t + 1 of Recent,
// Fine-tune and Ours minus that of Everything. Panel a is the drifting Gaussian
// (Section 3.1.2), b and c are CIFAR-10 under shifting labels (Section 3.1.3).
//
// What the paper claims: on the Gaussian, Ours performs much better than Everything
// and similarly to Recent and Fine-tune; on the images Ours is better than
// Everything, Everything better than Fine-tune and Recent, and Recent is worst.
//
// Command: go run ./replicate fig1 [--scale tiny|small|paper] [--panel a,b,c]
//
// Time on two cores: see README.md, "Figures".
var fig01 = Figure{
	Number: 1,
	Name:   "fig01",
	Title:  "Figure 1: test accuracy relative to Everything",
	Caption: "Each point is the test accuracy at step t + 1 of models trained from scratch at step t, minus that of Everything. " +
		"Lines are means over seeds, bands 95% intervals (Student's t over seeds).",
	Panels: []Panel{
		{Key: "a", Title: "Drifting Gaussian", Scenario: "gaussian",
			Learners: []string{"everything", "recent", "finetune", "ours"}},
		{Key: "b", Title: "CIFAR-10a (T = 9)", Scenario: "cifar10a",
			Learners:  []string{"everything", "recent", "finetune", "ours", "pretrained"},
			MeanLines: []string{"recent"}},
		{Key: "c", Title: "CIFAR-10b (T = 6)", Scenario: "cifar10b",
			Learners:  []string{"everything", "recent", "finetune", "ours", "pretrained"},
			MeanLines: []string{"recent"}},
	},
	Claims: []Claim{
		{ID: "fig1a-ours-everything", Text: "On the Gaussian, Ours is better than Everything", Place: "Section 3.1.2", Panel: "a", Series: "ours", Base: "everything"},
		{ID: "fig1a-ours-recent", Text: "On the Gaussian, Ours is within 5 points of Recent", Place: "Section 3.1.2, \"similarly to others\"; the 5 points are ours", Panel: "a", Series: "ours", Base: "recent", Bound: -.05},
		{ID: "fig1a-ours-finetune", Text: "On the Gaussian, Ours is within 5 points of Fine-tune", Place: "Section 3.1.2, \"similarly to others\"; the 5 points are ours", Panel: "a", Series: "ours", Base: "finetune", Bound: -.05},
		{ID: "fig1b-ours-everything", Text: "On CIFAR-10a, Ours is better than Everything", Place: "Section 3.1.3, Results", Panel: "b", Series: "ours", Base: "everything"},
		{ID: "fig1b-finetune-everything", Text: "On CIFAR-10a, Fine-tune is worse than Everything", Place: "Section 3.1.3, Results", Panel: "b", Series: "finetune", Base: "everything", Below: true},
		{ID: "fig1b-recent-everything", Text: "On CIFAR-10a, Recent is worse than Everything", Place: "Section 3.1.3, Results; caption of Fig. 1", Panel: "b", Series: "recent", Base: "everything", Below: true},
		{ID: "fig1b-recent-finetune", Text: "On CIFAR-10a, Recent is worse than Fine-tune", Place: "caption of Fig. 1, \"it performs the worst\"", Panel: "b", Series: "recent", Base: "finetune", Below: true},
		{ID: "fig1c-ours-everything", Text: "On CIFAR-10b, Ours is better than Everything", Place: "Section 3.1.3, Results", Panel: "c", Series: "ours", Base: "everything"},
		{ID: "fig1c-finetune-everything", Text: "On CIFAR-10b, Fine-tune is worse than Everything", Place: "Section 3.1.3, Results", Panel: "c", Series: "finetune", Base: "everything", Below: true},
		{ID: "fig1c-recent-everything", Text: "On CIFAR-10b, Recent is worse than Everything", Place: "Section 3.1.3, Results; caption of Fig. 1", Panel: "c", Series: "recent", Base: "everything", Below: true},
		{ID: "fig1c-recent-finetune", Text: "On CIFAR-10b, Recent is worse than Fine-tune", Place: "caption of Fig. 1, \"it performs the worst\"", Panel: "c", Series: "recent", Base: "finetune", Below: true},
	},
}

// Fig1 computes what is missing of Figure 1 and draws it.
func Fig1(ctx context.Context, lab *Lab, o Options) (*Result, error) {
	return lab.supervised(ctx, fig01, o)
}
