package paper

import "math"

// Fig2 declares Figure 2: return on D'Claw and on Half-Cheetah WindVel.
//
// Each panel shows the undiscounted return of evaluation episodes against the number of training episodes. Panel a is
// D'Claw with ten valves, each task repeated twice before the next: SAC with and without omega. Panel b is
// Half-Cheetah WindVel: SAC and SAC with context, each with and without omega. Panels c and d are not the paper's: they
// show what omega sees in the runs of a and b (I25).
//
// The paper claims: omega improves the sample complexity of every method that it is added to. On Half-Cheetah WindVel,
// plain SAC is worse than SAC with context.
//
// Command: go run ./replicate fig2 [--scale tiny|small|medium|paper] [--panel a,b,c,d]
//
// Result at the small scale: 6 claims: 2 are undecided, 4 are not judged; 2 repeat another; not counted: 1 holds, 2
// are not judged; see figures/gallery/fig02.
func Fig2() Figure {
	claw := clawPanel("a", "D'Claw, each task 2 times", "repeat=2", "sac", "sac-omega").judgedBy(fiveAgents)
	cheetah := returnPanel("b", "Half-Cheetah WindVel", "cheetah", "sac", "sac-context", "sac-context-omega", "sac-omega")
	cheetah.References, cheetah.Single = []string{"nothing", "random", "constant"}, "constant"
	cheetah = cheetah.judgedBy(tenAgents)
	return Figure{
		Number:  2,
		Time:    "about 25 min",
		Title:   "Figure 2: return on D'Claw and Half-Cheetah WindVel",
		Caption: robotCaption,
		SeedsAt: robotSeeds,
		Panels: []Panel{
			claw,
			cheetah,
			seesPanel("c", claw, "sac-omega"),
			seesPanel("d", cheetah, "sac-context-omega", "sac-omega"),
		},
		Claims: []Claim{
			{
				ID: "fig2a-omega-sac",
				Text: "On D'Claw, with each task repeated 2 times, SAC with omega earns a higher return than " +
					"SAC",
				Short: "omega helps SAC on D'Claw",
				Place: "Section 3.2, Results; caption of Fig. 2",
				Says: `"consistently outperforms other methods in terms of sample complexity across all ` +
					`environments"`,
				Parts: []Part{{Panel: "a", Series: "sac-omega", Base: "sac", Margin: clawMargin}},
			},
			fewerEpisodes(Claim{
				ID:    "fig2a-sooner",
				Text:  "On D'Claw, SAC with omega needs fewer episodes than SAC (area under the curve)",
				Place: "caption of Fig. 2",
				Says:  `"outperforms other methods in terms of sample complexity"`,
				Twin:  "fig2a-omega-sac",
			}, "a", "sac-omega", "sac", clawMargin),
			{
				ID: "fig2b-omega-context",
				Text: "On Half-Cheetah WindVel, SAC with context and omega earns a higher return than SAC " +
					"with context",
				Short: "omega helps SAC with context on Half-Cheetah",
				Place: "Section 3.2, Results; caption of Fig. 2",
				Says:  `"offers consistent improvements over the baseline methods"`,
				Parts: []Part{{Panel: "b", Series: "sac-context-omega", Base: "sac-context", Margin: cheetahMargin}},
			},
			fewerEpisodes(Claim{
				ID: "fig2b-sooner",
				Text: "On Half-Cheetah WindVel, SAC with context and omega needs fewer episodes than SAC with context " +
					"(area under the curve)",
				Place: "caption of Fig. 2",
				Says:  `"outperforms other methods in terms of sample complexity"`,
				Twin:  "fig2b-omega-context",
			}, "b", "sac-context-omega", "sac-context", cheetahMargin),
			fewerEpisodes(Claim{
				ID:    "fig2b-sooner-sac",
				Text:  "On Half-Cheetah WindVel, SAC with omega needs fewer episodes than SAC (area under the curve)",
				Place: "not in the paper",
				Says:  "the paper shows no SAC with omega on Half-Cheetah",
				New:   true,
			}, "b", "sac-omega", "sac", cheetahMargin),
			{
				ID: "fig2b-omega-sac",
				Text: "On Half-Cheetah WindVel, SAC with context and omega earns a higher return than plain " +
					"SAC",
				Place: "Section 3.2, Results; caption of Fig. 2",
				Says:  `"offers consistent improvements over the baseline methods"`,
				Parts: []Part{{Panel: "b", Series: "sac-context-omega", Base: "sac", Margin: cheetahMargin}},
			},
			{
				ID:    "fig2b-context-sac",
				Text:  "On Half-Cheetah WindVel, plain SAC earns less than SAC with context",
				Place: "Section 3.2, Half-Cheetah WindVel",
				Says:  `SAC is there "to underscore the challenging nature of the task"; that it earns less is our inference`,
				Parts: []Part{{Panel: "b", Series: "sac", Base: "sac-context", Test: Below, Margin: cheetahMargin}},
			},
			{
				ID:    "fig2b-omega-plain",
				Text:  "On Half-Cheetah WindVel, SAC with omega earns a higher return than SAC",
				Place: "not in the paper",
				Says:  "the paper shows no SAC with omega on Half-Cheetah",
				Twin:  "fig2b-sooner-sac",
				Parts: []Part{{Panel: "b", Series: "sac-omega", Base: "sac", Margin: cheetahMargin}},
				New:   true,
			},
			{
				ID: "fig2-omega-policy",
				Text: "On Half-Cheetah WindVel, omega follows the policy's drift: the loss of g on new episodes is below log 2, " +
					"that of a g that knows nothing",
				Place: "Section 3.2",
				Says:  `"our method can effectively model how data evolve over time with respect to the current policy"`,
				Parts: []Part{
					{Panel: "d", Series: "sac-context-omega", Of: "omega-loss", Statistic: Level, Test: Below, Bound: math.Ln2},
					{Panel: "d", Series: "sac-omega", Of: "omega-loss", Statistic: Level, Test: Below, Bound: math.Ln2},
				},
				New: true,
			},
		},
	}
}
