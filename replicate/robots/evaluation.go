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
	trial   int    // number in env.Env.Trials; -1 for a coming episode
	episode int    // number of a coming episode
	task    string // of a trial
	title   string // of the film
}

// starts lists the episodes of an evaluation after so many episodes of training.
func (s Settings) starts(robot env.Env, at int) []start {
	var out []start
	coming := s.EvaluateEpisodes
	if s.Evaluate == EvaluateTasks {
		for i, trial := range robot.Trials() {
			out = append(out, start{trial: i, task: trial.Task, title: trial.Title})
		}
		coming = 1
	}
	for k := range coming {
		out = append(out, start{trial: -1, episode: at + k, title: robot.Task(at + k)})
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

// report returns the rows of an evaluation: the mean over tasks, the next episode, and each task. Tasks have equally
// many trials.
func (e config) report(at int, starts []start, outcomes []outcome) []runs.Row {
	counted := slices.ContainsFunc(starts, func(b start) bool { return b.trial >= 0 })
	var all, reached []float64
	var tasks []string
	ofTask := map[string][]float64{}
	next := 0.0
	for i, b := range starts {
		if b.trial < 0 && b.episode == at {
			next = outcomes[i].total
		}
		if counted && b.trial < 0 {
			continue
		}
		all, reached = append(all, outcomes[i].total), append(reached, 0)
		if outcomes[i].reached {
			reached[len(reached)-1] = 1
		}
		if counted {
			if ofTask[b.task] == nil {
				tasks = append(tasks, b.task)
			}
			ofTask[b.task] = append(ofTask[b.task], outcomes[i].total)
		}
	}
	rows := []runs.Row{{T: at, Metric: MeasureReturn, Value: stat.Mean(all, nil)},
		{T: at, Metric: NextReturn, Value: next}}
	for _, task := range tasks {
		rows = append(rows, runs.Row{T: at, Metric: TaskReturn + task, Value: stat.Mean(ofTask[task], nil)})
	}
	if e.scenario.Success {
		rows = append(rows, runs.Row{T: at, Metric: Success, Value: stat.Mean(reached, nil)})
	}
	return rows
}
