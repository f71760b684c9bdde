package paper

// Fig10 declares Figure 10: D'Claw with each task repeated 25 times.
//
// Panel a shows, as Figure 2a, the undiscounted return of SAC with and without omega, but each task is repeated 25
// times before the next. Panel b has the runs of Figure 2a, for a claim about both settings; the paper has it there.
// Panel c is not the paper's: it shows what omega sees in the runs of panel a (I25).
//
// The paper claims: here, too, omega improves sample complexity and stability (a smaller spread over seeds).
//
// Command: go run ./replicate fig10 [--scale tiny|small|medium|paper] [--panel a,b,c]
//
// Result at the small scale: 4 claims: 4 are undecided; 1 repeats another; see figures/gallery/fig10.
func Fig10() Figure {
	claw := clawPanel("a", "D'Claw, each task 25 times", "repeat=25", "sac", "sac-omega").judgedBy(tenAgents)
	return Figure{
		Number:  10,
		Time:    "about 7 min",
		Shares:  "2: panel b",
		Title:   "Figure 10: D'Claw with each task repeated 25 times",
		Caption: robotCaption,
		SeedsAt: robotSeeds,
		Panels: []Panel{
			claw,
			clawPanel("b", "D'Claw, each task 2 times, as in Figure 2a", "repeat=2", "sac", "sac-omega").judgedBy(fiveAgents),
			seesPanel("c", claw, "sac-omega"),
		},
		Claims: []Claim{
			{
				ID:    "fig10-omega-sac",
				Text:  "With each task repeated 25 times, too, SAC with omega earns a higher return than SAC",
				Short: "omega helps SAC on D'Claw with 25 repeats, too",
				Place: "caption of Fig. 10",
				Says:  `"performs better than standard SAC in terms of both sample complexity and stability"`,
				Parts: []Part{{Panel: "a", Series: "sac-omega", Base: "sac", Margin: clawMargin}},
			},
			{
				ID: "fig10-both",
				Text: "SAC with omega earns a higher return than SAC in both settings, each task 25 times " +
					"and each task 2 times",
				Place: "caption of Fig. 10",
				Says:  `"Our method works better in both settings"`,
				Parts: inPanels("ab", Part{Series: "sac-omega", Base: "sac", Margin: clawMargin}),
			},
			fewerEpisodes(Claim{
				ID:    "fig10-sooner",
				Text:  "SAC with omega needs fewer episodes than SAC (area under the curve)",
				Place: "caption of Fig. 10",
				Says:  `"performs better than standard SAC in terms of both sample complexity and stability"`,
				Twin:  "fig10-omega-sac",
			}, "a", "sac-omega", "sac", clawMargin),
			{
				ID: "fig10-stable",
				Text: "With each task repeated 25 times, the return of SAC with omega varies less between " +
					"seeds than that of SAC",
				Short: "omega makes seeds vary less",
				Place: "caption of Fig. 10",
				Says:  `"compare shaded area of our method with SAC, larger means less stable"`,
				Parts: []Part{
					{Panel: "a", Series: "sac-omega", Base: "sac", Statistic: Spread, Test: Below, Margin: spreadMargin},
				},
			},
		},
	}
}
