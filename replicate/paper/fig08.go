package paper

// Fig8 declares Figure 8: Method 1 against Method 2.
//
// The panels show test accuracy on step t + 1 with omega from Eq. 8 (Method 1) and from Eq. 10
// (Method 2), on CIFAR-10a, CIFAR-10b and CLEAR. Method 2 is Ours in all other figures, with the same runs.
//
// The paper claims: both methods perform similarly; Method 1 has a slight edge.
//
// Command: go run ./replicate fig8 [--scale tiny|small|medium|paper] [--panel a,b,c]
//
// Result at the small scale: 2 claims: 1 holds, 1 shows no difference; CLEAR not tested; see figures/gallery/fig08.
func Fig8() Figure {
	return Figure{
		Number: 8,
		Time:   "9 min",
		Shares: "1",
		Title:  "Figure 8: Method 1 against Method 2",
		Caption: "Each point is the test accuracy at step t + 1 of models retrained at step t. " +
			Bands,
		Panels: []Panel{
			{Key: "a", Title: "CIFAR-10a (9 steps a shift)", Scenario: "cifar10a", Series: bothMethods, Absolute: true},
			{Key: "b", Title: "CIFAR-10b (6 steps a shift)", Scenario: "cifar10b", Series: bothMethods, Absolute: true},
			{Key: "c", Title: "CLEAR (30 steps a shift)", Scenario: "clear", Series: bothMethods, Absolute: true},
		},
		Claims: []Claim{
			{
				ID:    "fig8-similar",
				Text:  "Method 1 and Method 2 are within 0.3 points of each other",
				Short: "Methods 1 and 2 are at most 0.3 points apart",
				Place: "Appendix C, Method 1 vs Method 2; Section 2.2; Appendix B",
				Says:  `"both methods perform similarly" (the 0.3 points are ours)`,
				Parts: inPanels("abc", Part{Series: "method1", Base: "method2", Test: Within, Bound: Margin}),
				Was: &Wording{"within 1 point", inPanels("abc", Part{Series: "method1", Base: "method2", Test: Within,
					Bound: .01})},
			},
			{
				ID:    "fig8-edge",
				Text:  "Method 1 is better than Method 2",
				Short: "Method 1 is better",
				Place: "Appendix C, Method 1 vs Method 2",
				Says:  `"Method 1 has a slight edge over Method 2"`,
				Parts: better("abc", "method1", "method2"),
			},
		},
	}
}

var bothMethods = []string{"method2", "method1"}
