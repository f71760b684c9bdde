package paper

// seesPanel shows what omega sees of the tasks: for each evaluation the correlation of omega, averaged over each
// episode, with the similarity of the episode's task to the present one. It needs no runs but those of the panel of
// returns with the same settings.
func seesPanel(key, title, scenario string, set []string, series ...string) Panel {
	return Panel{
		Key:      key,
		Title:    title + ": what ω sees",
		Scenario: scenario,
		Set:      set,
		Series:   series,
		Measure:  "return",
		Metric:   "omega-similarity",
		YLabel:   "correlation of ω with the similarity of tasks",
		Absolute: true,
	}
}
