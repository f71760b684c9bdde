package paper

import "slices"

// Fig1 declares Figure 1: relative test accuracy in continuous supervised learning.
//
// Each panel shows, at each time step t, the test accuracy on step t + 1 of Recent, Fine-tune and Ours minus that of
// Everything. Panel a is the drifting Gaussian (Section 3.1.2). Panels b and c are CIFAR-10 and panel d is CLEAR, all
// under label shift (Section 3.1.3); panels b and c also show the pre-trained network without adaptation.
//
// The paper claims: on the Gaussian, Ours is much better than Everything and similar to Recent and Fine-tune. On the
// images, Ours is better than Everything; on CIFAR-10, Everything is better than Fine-tune and Recent; Recent is
// worst. A claim of our own compares Everything, Recent and Fine-tune with the network that is not adapted: all three
// are less accurate.
//
// Command: go run ./replicate fig1 [--scale tiny|small|medium|paper] [--panel a,b,c,d]
//
// Result at the small scale: 12 claims: 7 hold, 2 hold partly, 3 do not hold; not counted: 1 holds, 1 does not hold;
// CLEAR not tested; see figures/gallery/fig01.
func Fig1() Figure {
	return Figure{
		Number:  1,
		Time:    "13 min",
		Title:   "Figure 1: test accuracy relative to Everything",
		Caption: relativeCaption,
		Panels: []Panel{
			{
				Key:      "a",
				Title:    "Drifting Gaussian",
				Scenario: "gaussian",
				Series:   []string{"everything", "recent", "finetune", "ours"},
				Spans:    sweeps,
				Judged:   []Sample{gaussianSample},
			},
			imagePanel("b", "CIFAR-10a (9 steps a shift)", "cifar10a").judgedBy(cifar10aSample, imagesSample),
			imagePanel("c", "CIFAR-10b (6 steps a shift)", "cifar10b").judgedBy(cifar10bSample, imagesSample),
			{
				Key:       "d",
				Title:     "CLEAR (30 steps a shift)",
				Scenario:  "clear",
				Series:    []string{"everything", "recent", "finetune", "ours"},
				MeanLines: recentLine,
			},
		},
		Claims: []Claim{
			{
				ID:    "fig1a-ours-everything",
				Text:  "On the Gaussian, Ours is better than Everything",
				Short: "Ours beats Everything on the Gaussian",
				Place: "Section 3.1.2",
				Says:  `"performs much better than Everything"`,
				Parts: []Part{{Panel: "a", Series: "ours", Base: "everything"}},
			},
			{
				ID:    "fig1a-ours-others",
				Text:  "On the Gaussian, Ours is within 5 points of Recent and Fine-tune",
				Short: "on the Gaussian, Ours is at most 5 points from Recent and Fine-tune",
				Place: "Section 3.1.2",
				Says:  `"and similarly to others" (the 5 points are ours)`,
				Parts: []Part{
					{Panel: "a", Series: "ours", Base: "recent", Test: Within, Bound: .05},
					{Panel: "a", Series: "ours", Base: "finetune", Test: Within, Bound: .05},
				},
			},
			{
				ID:    "fig1a-everything-others",
				Text:  "On the Gaussian, Everything is worse than Recent and Fine-tune",
				Place: "Section 3.1.3, Results",
				Says:  `"Everything fares poorly in Gaussian experiment than others"`,
				Parts: []Part{
					{Panel: "a", Series: "recent", Base: "everything"},
					{Panel: "a", Series: "finetune", Base: "everything"},
				},
			},
			{
				ID:    "fig1a-oracle",
				Text:  "On the Gaussian, Recent and Fine-tune are within 1 point of 0.960, the oracle's accuracy",
				Place: "Section 3.1.2",
				Says: `"both Recent and Fine-tune are like oracle for this experiment" (the oracle knows the mean of ` +
					"step t and is tested on step t + 1, 0.1 away: 0.5 + Phi(0.1) - Phi(0) = 0.960; the point is ours)",
				Parts: []Part{
					{Panel: "a", Series: "recent", Statistic: Level, Test: Within, Around: .96, Bound: .01},
					{Panel: "a", Series: "finetune", Statistic: Level, Test: Within, Around: .96, Bound: .01},
				},
				Was: &Wording{Text: "Recent and Fine-tune are above 0.95", Parts: []Part{
					{Panel: "a", Series: "recent", Statistic: Level, Bound: .95},
					{Panel: "a", Series: "finetune", Statistic: Level, Bound: .95},
				}},
			},
			{
				ID:    "fig1-ours-everything",
				Text:  "On CIFAR-10a, CIFAR-10b and CLEAR, Ours is better than Everything",
				Short: "Ours beats Everything",
				Place: "Section 3.1.3, Results",
				Says:  `"not only does our method outperform others by achieving higher classification accuracy"`,
				Parts: better("bcd", "ours", "everything"),
			},
			{
				ID:    "fig1-ours-finetune",
				Text:  "On CIFAR-10a, CIFAR-10b and CLEAR, Ours is better than Fine-tune",
				Place: "Section 3.1.3, Results",
				Says:  `"not only does our method outperform others by achieving higher classification accuracy"`,
				Parts: better("bcd", "ours", "finetune"),
			},
			{
				ID:    "fig1-ours-recent",
				Text:  "On CIFAR-10a, CIFAR-10b and CLEAR, Ours is better than Recent",
				Short: "Ours beats Recent",
				Place: "Section 3.1.3, Results",
				Says:  `"not only does our method outperform others by achieving higher classification accuracy"`,
				Parts: better("bcd", "ours", "recent"),
			},
			{
				ID:    "fig1-finetune-everything",
				Text:  "On CIFAR-10a and CIFAR-10b, Fine-tune is worse than Everything",
				Place: "Section 3.1.3, Results",
				Says:  `Everything "works better than Fine-tune and Recent on continuous CIFAR-10 benchmark"`,
				Parts: worse("bc", "finetune", "everything"),
			},
			{
				ID:    "fig1-recent-everything",
				Text:  "On CIFAR-10a, CIFAR-10b and CLEAR, Recent is worse than Everything",
				Short: "Recent is worse than Everything",
				Place: "Section 3.1.3, Results; caption of Fig. 1",
				Says:  `Recent "performs the worst in the image benchmarks"`,
				Parts: worse("bcd", "recent", "everything"),
			},
			{
				ID:    "fig1-recent-finetune",
				Text:  "On CIFAR-10a, CIFAR-10b and CLEAR, Recent is worse than Fine-tune",
				Place: "caption of Fig. 1",
				Says:  `Recent "performs the worst in the image benchmarks"`,
				Parts: worse("bcd", "recent", "finetune"),
			},
			{
				ID: "fig1-no-trend",
				Text: "Recent and Fine-tune are better than Everything on the Gaussian, and worse than it on " +
					"CIFAR-10a and CIFAR-10b",
				Place: "remark on the properties of the baselines",
				Says:  `"neither of these approaches show consistent trend in the experiments"`,
				Parts: slices.Concat(
					[]Part{{Panel: "a", Series: "recent", Base: "everything"},
						{Panel: "a", Series: "finetune", Base: "everything"}},
					worse("bc", "recent", "everything"), worse("bc", "finetune", "everything")),
			},
			{
				ID: "fig1-only-ours",
				Text: "Ours is better than Everything in all four panels; Recent and Fine-tune are worse than it on " +
					"CIFAR-10a and CIFAR-10b",
				Place: "caption of Fig. 1",
				Says:  `"stands out as the only approach that consistently maintains its effectiveness"`,
				Parts: slices.Concat([]Part{{Panel: "a", Series: "ours", Base: "everything"}},
					better("bcd", "ours", "everything"),
					worse("bc", "recent", "everything"), worse("bc", "finetune", "everything")),
				Note: "Recent is better than Everything on the Gaussian, and with 20 epochs on CIFAR-10a and b: Ours is not " +
					"the only one",
			},
			{
				ID: "fig1-not-adapted",
				Text: "On CIFAR-10a and CIFAR-10b, Everything, Recent and Fine-tune are less accurate than the " +
					"pre-trained network without adaptation",
				Place: "not in the paper",
				Says:  "the paper does not show this network",
				Note: "with at most 100 minibatches and a network for each of four seeds (figures/gallery/fig01-split) this is " +
					"shown for Everything alone",
				Parts: slices.Concat(worse("bc", "everything", "pretrained"),
					worse("bc", "recent", "pretrained"), worse("bc", "finetune", "pretrained")),
				New: true,
			},
			{
				ID: "fig1-regret",
				Text: "Over the Gaussian, CIFAR-10a and CIFAR-10b, the largest distance of Ours behind the best learner is " +
					"smaller than those of Fine-tune and Recent",
				Place: "caption of Fig. 1",
				Says:  `"stands out as the only approach that consistently maintains its effectiveness"`,
				Parts: []Part{
					{Panel: "a", Panels: "abc", Series: "ours", Base: "finetune", Statistic: Regret, Test: Below, Margin: Margin},
					{Panel: "a", Panels: "abc", Series: "ours", Base: "recent", Statistic: Regret, Test: Below, Margin: Margin},
				},
				New: true,
			},
		},
	}
}

const relativeCaption = "Each point is the test accuracy at step t + 1 of models retrained at step t, " +
	"minus that of Everything. " + Bands

var recentLine = []string{"recent"}

// sweeps are the Gaussian's ways between two turns of its drift, at steps 50, 100 and 150. The last quarter of each
// stands apart: Ours is farthest behind Recent there.
var sweeps = []Span{{1, 36}, {37, 49}, {50, 86}, {87, 99}, {100, 136}, {137, 149}, {150, 159}}

// imagePanel shows the accuracy of all learners on images, minus that of Everything.
func imagePanel(key, title, scenario string) Panel {
	return Panel{Key: key, Title: title, Scenario: scenario, MeanLines: recentLine,
		Series: []string{"everything", "recent", "finetune", "ours", "pretrained"}}
}
