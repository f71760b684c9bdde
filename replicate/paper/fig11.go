package paper

import "context"

// Figure 11: D'Claw, SAC with context.
//
// What it shows: the setting of Figure 10, each task 25 times before the next, with SAC
// with context as the baseline: its undiscounted return with and without omega.
//
// What the paper claims: omega improves sample complexity and stability of SAC with
// context, too.
//
// Command: go run ./replicate fig11 [--scale tiny|small|paper]
//
// Time on two cores: see README.md, "Figures".
var fig11 = Figure{
	Number:  11,
	Name:    "fig11",
	Title:   "Figure 11: D'Claw, SAC with context",
	Caption: robotCaption,
	SeedsAt: robotSeeds,
	Panels: []Panel{
		{Key: "a", Title: "D'Claw, each task 25 times, with context", Scenario: "claw", Set: []string{"repeat=25"}, Series: []string{"sac-context", "sac-context-omega"},
			Measure: "return", YLabel: returnLabel, Absolute: true},
	},
	Claims: []Claim{
		{ID: "fig11-omega-context", Text: "On D'Claw, SAC with context and omega earns a higher return than SAC with context", Place: "caption of Fig. 11",
			Says:  "\"performs better than SAC + Context in terms of both sample complexity and stability\"",
			Parts: []Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-context"}}},
		{ID: "fig11-sooner", Text: "SAC with context and omega comes sooner to the return that SAC with context ends with", Place: "caption of Fig. 11",
			Says:  "\"performs better than SAC + Context in terms of both sample complexity and stability\"",
			Parts: []Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-context", Statistic: Sooner}}},
		{ID: "fig11-stable", Text: "On D'Claw, the return of SAC with context and omega varies less between seeds than without omega", Place: "caption of Fig. 11",
			Says:  "\"compare shaded area of our method with SAC + Context, larger means less stable\"",
			Parts: []Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-context", Statistic: Spread, Test: Below}}},
	},
}

// Fig11 computes what is missing of Figure 11 and draws it.
func Fig11(ctx context.Context, lab *Lab, o Options) (*Result, error) {
	return lab.figure(ctx, fig11, o)
}
