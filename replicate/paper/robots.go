package paper

import "tvps/replicate/experiment"

const (
	returnLabel  = "average undiscounted return"
	robotCaption = "Each point is the undiscounted return of the mean action, averaged over evaluation episodes, " +
		"after so many episodes of training. " +
		Bands
)

// What counts as no difference between two learners on robots (Part.Margin). The margins were set after three
// seeds of Figures 2 and 10 at the small scale, none of whose verdicts they change, and before any run at the medium
// scale. Those of returns are a twentieth of the way from doing nothing to a script without learning.
const (
	clawMargin    = 65  // from -629 to the +680 of the scripted grip, with three valves
	cheetahMargin = 1.3 // from -75 to the -49 of the constant velocity
	soonerMargin  = 100 // episodes
	spreadMargin  = .69 // log 2: neither variance is twice the other
)

// fewerEpisodes makes a claim say that a series learns from fewer episodes than its base, by the area under the curves,
// which is the mean over all evaluations. It was first judged by how much sooner the series reaches the base's final
// level: with a grid of evaluations as wide as soonerMargin that would need 160 seeds.
func fewerEpisodes(c Claim, panel, series, base string, margin float64) Claim {
	c.Parts = []Part{{Panel: panel, Series: series, Base: base, Margin: margin}}
	c.Was = &Wording{"fewer episodes until the return at which the other ends",
		[]Part{{Panel: panel, Series: series, Base: base, Statistic: Sooner, Margin: soonerMargin}}}
	return c
}

// robotSeeds are the seeds of the paper's Table 1, at its scale.
var robotSeeds = map[experiment.Scale]string{experiment.Medium: "0-9", experiment.Paper: "0-9"}

// returnPanel shows the return of agents on a robot.
func returnPanel(key, title, scenario string, series ...string) Panel {
	return Panel{
		Key:      key,
		Title:    title,
		Scenario: scenario,
		Series:   series,
		Measure:  "return",
		YLabel:   returnLabel,
		Absolute: true,
	}
}

// clawPanel is returnPanel for D'Claw with one setting more, and lines of what does not learn.
func clawPanel(key, title, setting string, series ...string) Panel {
	p := returnPanel(key, title, "claw", series...)
	p.Set, p.References = []string{setting}, []string{"nothing", "random", "scripted"}
	return p
}

// seesPanel shows what omega sees of the tasks in the runs of a panel of returns: for each evaluation the correlation
// of omega, averaged over each episode, with the similarity of the episode's task to the present one.
func seesPanel(key string, of Panel, series ...string) Panel {
	p := returnPanel(key, of.Title+": what ω sees", of.Scenario, series...)
	p.Set, p.Judged, p.Metric, p.YLabel = of.Set, of.Judged, "omega-similarity", "correlation of ω with task similarity"
	p.Noted = []Noted{
		{"omega-mean", "mean of ω"}, {"omega-share", "effective share"}, {"omega-spread", "standard deviation of log ω"},
		{"omega-loss", "loss of g on new episodes (g = 0: 0.693)"},
		{"omega-recency", "correlation of ω with the episode's number"},
	}
	return p
}
