package paper

// The figures of Section 3.2, reinforcement learning, with what the paper claims of them.
// They have no runs here yet, so their claims have no parts that could be judged; they are
// listed so that no claim of the paper is passed over in silence.
var unmade = []Figure{fig02, fig10, fig11}

var fig02 = Figure{
	Number: 2,
	Name:   "fig02",
	Title:  "Figure 2: return on D'Claw and Half-Cheetah WindVel",
	Claims: []Claim{
		{ID: "fig2a-omega-sac", Text: "On D'Claw, with each task repeated 2 times, SAC with omega earns a higher return than SAC", Place: "Section 3.2, Results; caption of Fig. 2",
			Says: "\"consistently outperforms other methods in terms of sample complexity across all environments\""},
		{ID: "fig2b-omega-context", Text: "On Half-Cheetah WindVel, SAC with context and omega earns a higher return than SAC with context", Place: "Section 3.2, Results; caption of Fig. 2",
			Says: "\"offers consistent improvements over the baseline methods\""},
		{ID: "fig2b-omega-sac", Text: "On Half-Cheetah WindVel, SAC with context and omega earns a higher return than plain SAC", Place: "Section 3.2, Results; caption of Fig. 2",
			Says: "\"offers consistent improvements over the baseline methods\""},
		{ID: "fig2b-context-sac", Text: "On Half-Cheetah WindVel, plain SAC earns less than SAC with context", Place: "Section 3.2, Half-Cheetah WindVel",
			Says: "SAC is there \"to underscore the challenging nature of the task\""},
	},
}

var fig10 = Figure{
	Number: 10,
	Name:   "fig10",
	Title:  "Figure 10: D'Claw with each task repeated 25 times",
	Claims: []Claim{
		{ID: "fig10-omega-sac", Text: "With each task repeated 25 times, too, SAC with omega earns a higher return than SAC", Place: "caption of Fig. 10",
			Says: "\"performs better than standard SAC in terms of both sample complexity and stability\"; \"works better in both settings\""},
		{ID: "fig10-stable", Text: "With each task repeated 25 times, the return of SAC with omega varies less between seeds than that of SAC", Place: "caption of Fig. 10",
			Says: "\"compare shaded area of our method with SAC, larger means less stable\""},
	},
}

var fig11 = Figure{
	Number: 11,
	Name:   "fig11",
	Title:  "Figure 11: D'Claw, SAC with context",
	Claims: []Claim{
		{ID: "fig11-omega-context", Text: "On D'Claw, SAC with context and omega earns a higher return than SAC with context", Place: "caption of Fig. 11",
			Says: "\"performs better than SAC + Context in terms of both sample complexity and stability\""},
		{ID: "fig11-stable", Text: "On D'Claw, the return of SAC with context and omega varies less between seeds than without omega", Place: "caption of Fig. 11",
			Says: "\"compare shaded area of our method with SAC + Context, larger means less stable\""},
	},
}
