package paper

// Fig11 declares Figure 11: D'Claw, SAC with context.
//
// The panel shows the undiscounted return of SAC with context, with and without omega, in the setting of Figure 10:
// each task is repeated 25 times before the next. Panel b is not the paper's: it shows what omega sees in these runs
// (I25).
//
// The paper claims: omega improves sample complexity and stability of SAC with context, too.
//
// Command: go run ./replicate fig11 [--scale tiny|small|medium|paper]
//
// Result at the small scale: 3 claims: 3 are not judged; 1 repeats another; see figures/gallery/fig11.
func Fig11() Figure {
	claw := clawPanel("a", "D'Claw, each task 25 times, with context", "repeat=25", "sac-context", "sac-context-omega").
		judgedBy(tenAgents)
	return Figure{
		Number:  11,
		Time:    "about 16 min",
		Title:   "Figure 11: D'Claw, SAC with context",
		Caption: robotCaption,
		SeedsAt: robotSeeds,
		Panels: []Panel{
			claw,
			seesPanel("b", claw, "sac-context-omega"),
		},
		Claims: []Claim{
			{
				ID:    "fig11-omega-context",
				Text:  "On D'Claw, SAC with context and omega earns a higher return than SAC with context",
				Short: "omega helps SAC with context on D'Claw",
				Place: "caption of Fig. 11",
				Says:  `"performs better than SAC + Context in terms of both sample complexity and stability"`,
				Parts: []Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-context", Margin: clawMargin}},
			},
			fewerEpisodes(Claim{
				ID:    "fig11-sooner",
				Text:  "SAC with context and omega needs fewer episodes than SAC with context (area under the curve)",
				Place: "caption of Fig. 11",
				Says:  `"performs better than SAC + Context in terms of both sample complexity and stability"`,
				Twin:  "fig11-omega-context",
			}, "a", "sac-context-omega", "sac-context", clawMargin),
			{
				ID: "fig11-stable",
				Text: "On D'Claw, the return of SAC with context and omega varies less between seeds than " +
					"without omega",
				Short: "omega makes seeds vary less",
				Place: "caption of Fig. 11",
				Says:  `"compare shaded area of our method with SAC + Context, larger means less stable"`,
				Parts: []Part{
					{Panel: "a", Series: "sac-context-omega", Base: "sac-context", Statistic: Spread, Test: Below,
						Margin: spreadMargin},
				},
			},
		},
	}
}
