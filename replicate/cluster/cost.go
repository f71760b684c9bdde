package cluster

import (
	"fmt"
	"strings"
	"time"

	"tvps/replicate/runs"
)

// Cost is what the tasks of a plan are estimated to take.
type Cost struct {
	Runs, Steps int     // distinct runs, and their steps
	GPU, Cores  float64 // seconds of GPUs, and of processors in tasks without one
	Path        float64 // seconds of the longest chain of tasks
}

// Cost sums the tasks.
func (p Plan) Cost() Cost {
	var c Cost
	distinct := map[string]bool{}
	ends := make([]float64, len(p.Tasks)) // of the longest chain that ends with each task
	for i, t := range p.Tasks {
		if t.GPU {
			c.GPU += t.Seconds
		} else {
			c.Cores += t.Seconds * float64(t.CPUs)
		}
		for _, before := range t.After {
			ends[i] = max(ends[i], ends[before])
		}
		ends[i] += t.Seconds
		c.Path = max(c.Path, ends[i])
		for _, r := range t.Runs {
			for _, seed := range r.Seeds {
				distinct[fmt.Sprint(r.Scenario, " ", r.Series, " ", r.Measure, " ", r.Settings, " ", seed)] = true
			}
			c.Steps += len(r.Steps) * len(r.Seeds)
		}
	}
	c.Runs = len(distinct)
	return c
}

// Summary says in sentences what is missing.
func (p Plan) Summary() string {
	if len(p.Tasks) == 0 {
		return fmt.Sprintf("Nothing is missing: %s stored.", runs.Plural(p.Stored, "run"))
	}
	c := p.Cost()
	lines := []string{fmt.Sprintf("%s stored, %s with %s missing, in %s: %.1f GPU hours, %.1f core hours, %s along the "+
		"longest chain (guessed).", runs.Plural(p.Stored, "run"), runs.Plural(c.Runs, "run"), runs.Plural(c.Steps, "step"),
		runs.Plural(len(p.Tasks), "task"), c.GPU/3600, c.Cores/3600, shown(c.Path))}
	return strings.Join(append(lines, p.Notes...), "\n")
}

// shown is a time for people.
func shown(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
