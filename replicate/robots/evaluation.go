package robots

import (
	"slices"

	"tvps/data/env"
	"tvps/data/random"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/stat"
)

// The values of Settings.Evaluate.
const (
	EvaluateTasks  = "tasks"  // every task from its fixed starts, and the coming episode
	EvaluateComing = "coming" // the coming episodes: the paper's "number of episodes to evaluate"
)

// start is where an episode of an evaluation begins: a trial of the robot, or an episode that would come next.
type start struct {
	task    string // of the trial; empty for a coming episode
	trial   int    // its number; -1 for a coming episode
	episode int    // number of a coming episode
}

// starts lists the episodes of an evaluation after so many episodes of training.
func (s Settings) starts(robot env.Env, at int) []start {
	var out []start
	coming := s.EvaluateEpisodes
	if s.Evaluate == EvaluateTasks {
		for i, task := range robot.Trials() {
			out = append(out, start{task: task, trial: i})
		}
		coming = 1
	}
	for k := range coming {
		out = append(out, start{trial: -1, episode: at + k})
	}
	return out
}

// reset begins the episode in the environment of a seed. The start of a trial is the same for every seed.
func (b start) reset(robot env.Env, seed int64, obs []float64) error {
	if b.trial >= 0 {
		return robot.ResetTrial(b.trial, obs)
	}
	return robot.Reset(b.episode, random.New(seed, "robot", "evaluate", b.episode), obs)
}

// outcome is what became of an evaluation episode of one seed.
type outcome struct {
	total   float64 // undiscounted return
	reached bool    // whether the robot was at its target at the end
}

// report returns the rows of an evaluation: the mean over tasks, or else over the coming episodes, the next episode,
// and each task. Trials come before coming episodes, and tasks have equally many.
func (e config) report(at int, starts []start, outcomes []outcome) []runs.Row {
	next, counted := slices.IndexFunc(starts, func(b start) bool { return b.trial < 0 }), outcomes
	if next > 0 {
		counted = outcomes[:next]
	}
	var all []float64
	var tasks []string
	ofTask, reached := map[string][]float64{}, 0.
	for i, o := range counted {
		task := starts[i].task
		if ofTask[task] == nil && next > 0 {
			tasks = append(tasks, task)
		}
		all, ofTask[task] = append(all, o.total), append(ofTask[task], o.total)
		if o.reached {
			reached++
		}
	}
	rows := []runs.Row{{T: at, Metric: MeasureReturn, Value: stat.Mean(all, nil)},
		{T: at, Metric: nextReturn, Value: outcomes[next].total}}
	for _, task := range tasks {
		rows = append(rows, runs.Row{T: at, Metric: taskReturn + task, Value: stat.Mean(ofTask[task], nil)})
	}
	if e.scenario.Success {
		rows = append(rows, runs.Row{T: at, Metric: success, Value: reached / float64(len(counted))})
	}
	return rows
}
