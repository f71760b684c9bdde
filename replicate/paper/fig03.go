package paper

// Fig3 declares Figure 3: the standard propensity score against ours on CIFAR-10b.
//
// Panel a shows test accuracy on step t + 1 with the past weighted by the standard score of Section 2, by ours and by
// the exact weights, and without weights (Everything). Panel b shows the score of the samples of each time t, seen
// from the last step: the mean of min(omega, 1) over p_t. Its exact value, 1 - TV(p_t, p_T), is drawn, too. The
// standard score gets features and label like ours and is trained as long; its "current" data are those of the last
// step.
//
// The paper claims: our score is more accurate and follows the drift; the standard score "largely ignores shifts
// across different time steps".
//
// Command: go run ./replicate fig3 [--scale tiny|small|medium|paper] [--panel a,b]
//
// Result at the small scale: 4 claims: 2 hold, 1 does not hold, 1 shows no difference; see figures/gallery/fig03.
func Fig3() Figure {
	return Figure{
		Number: 3,
		Time:   "5 min",
		Shares: "1",
		Title:  "Figure 3: standard propensity against ours on CIFAR-10b",
		Caption: "a: test accuracy at step t + 1. b: mean over the samples of time t of min(omega, 1), " +
			"seen from the last step; its exact value is 1 - TV(p_t, p_T). " +
			Bands,
		Panels: []Panel{
			{
				Key:      "a",
				Title:    "CIFAR-10b, accuracy",
				Scenario: "cifar10b",
				Series:   []string{"standard", "ours", "exact", "everything"},
				Absolute: true,
				Judged:   []Sample{scoresSample},
			},
			scorePanel("b", "CIFAR-10b, score by time", "cifar10b", "exact", "standard", "ours").judgedBy(cifarScoreSample),
		},
		Claims: []Claim{
			{
				ID:    "fig3a-ours-standard",
				Text:  "Ours is more accurate than the standard propensity score",
				Short: "Ours beats the standard score",
				Place: "Section 3.3; caption of Fig. 3",
				Says:  `"our method works better than standard propensity method"`,
				Parts: better("a", "ours", "standard"),
			},
			{
				ID:    "fig3b-ours-follows",
				Text:  "Our score follows the drift: it correlates with the exact one over time",
				Short: "our score follows the drift",
				Place: "Section 3.3",
				Says: `"our method fairly detects shifts across different time steps" (the bound of 0.5 is ` +
					"ours)",
				Parts: []Part{{Panel: "b", Series: "ours", Base: "exact", Statistic: Correlation, Bound: .5}},
			},
			{
				ID:    "fig3b-standard-ignores",
				Text:  "The standard score ignores the drift: it hardly correlates with the exact one over time",
				Short: "the standard score ignores the drift",
				Place: "Section 3.3",
				Says: `"standard propensity scoring largely ignores shifts across different time steps" ` +
					"(the bound of 0.5 is ours)",
				Parts: []Part{
					{Panel: "b", Series: "standard", Base: "exact", Statistic: Correlation, Test: Below, Bound: .5},
				},
			},
			{
				ID:    "fig3b-ours-better",
				Text:  "The standard score follows the drift less than ours",
				Place: "Section 3.3",
				Says: `"our method fairly detects shifts across different time steps, whereas standard ` +
					`propensity scoring largely ignores shifts"`,
				Parts: []Part{{Panel: "b", Series: "ours", Base: "standard", Statistic: CorrelationGain,
					Truth: "exact"}},
			},
		},
	}
}

// scorePanel shows the weights of the samples of each time, seen from the last step.
func scorePanel(key, title, scenario string, series ...string) Panel {
	return Panel{Key: key, Title: title, Scenario: scenario, Series: series, Measure: "score",
		YLabel: "mean of min(omega, 1) at time t", Absolute: true}
}
