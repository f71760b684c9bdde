// Package cluster distributes the runs of figures over the tasks of a cluster. A plan lists every run that is missing,
// in tasks that one process each computes: it needs neither GPU nor data. A worker computes one task. Slurm
// distributes, retries and accounts: batch scripts and array jobs with dependencies.
package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Format is the number of the plan's format that this program writes and reads.
const Format = 3

// Plan is the work that is missing for figures.
type Plan struct {
	Format      int      `json:"format"`
	Scale       string   `json:"scale"`
	Figures     []string `json:"figures"`         // as on the command line, "fig1": they are drawn at the end
	Arguments   []string `json:"arguments"`       // flags that choose runs (--seeds, --set ...), as the user gave them
	TaskSeconds float64  `json:"task-seconds"`    // the time to which tasks are packed
	Stored      int      `json:"stored"`          // number of distinct runs that are stored whole, and so in no task
	Notes       []string `json:"notes,omitempty"` // sentences: assumptions about data, identities that were chosen
	Tasks       []Task   `json:"tasks"`
}

// Task is what one process computes. It has one of Pretrain, Features and Runs.
type Task struct {
	ID       int       `json:"id"` // its index in the plan
	Stage    Stage     `json:"stage"`
	After    []int     `json:"after,omitempty"` // the tasks whose results it needs
	GPU      bool      `json:"gpu"`
	CPUs     int       `json:"cpus"`
	MemoryMB int       `json:"memory-mb"`
	Backend  string    `json:"backend,omitempty"` // as "xla:cuda"; empty for the worker's default
	Seconds  float64   `json:"seconds"`           // a guess, from constants of this program
	Pretrain *Pretrain `json:"pretrain,omitempty"`
	Features *Features `json:"features,omitempty"`
	Runs     []Runs    `json:"runs,omitempty"`
}

// Stage is a part of a plan. The tasks of a plan are in the order of Stages, those of equal resources next to each
// other.
type Stage string

// The stages. The tasks of GPU and CPU can be computed at the same time; the results of several folders are merged and
// the figures drawn after them.
const (
	StagePretrain Stage = "pretrain" // checkpoints of ResNet-18, one for each split
	StageFeatures Stage = "features" // of all images, for each checkpoint
	StageGPU      Stage = "gpu"      // runs
	StageCPU      Stage = "cpu"      // runs
)

// Stages lists the stages in their order.
var Stages = []Stage{StagePretrain, StageFeatures, StageGPU, StageCPU}

// Pretrain is the training of a checkpoint.
type Pretrain struct {
	Width  int   `json:"width"`
	Split  int64 `json:"split"`
	Epochs int   `json:"epochs"`
}

// Config is the training's configuration.
func (p Pretrain) Config() resnet.Config {
	c := resnet.DefaultConfig(p.Width)
	c.Epochs, c.Seed = p.Epochs, p.Split
	return c
}

// Features are the features of all images below the trained part of ResNet-18, which a scenario's runs share.
type Features struct {
	Scenario string            `json:"scenario"`
	Settings map[string]string `json:"settings,omitempty"` // that differ from the scenario's at the scale of the plan
	Seed     int64             `json:"seed"`               // whose split's checkpoint is used
}

// Runs are the runs of a series that a task computes, together or one after the other.
type Runs struct {
	Scenario string            `json:"scenario"`
	Series   string            `json:"series"`
	Measure  string            `json:"measure,omitempty"`  // empty for the protocol's
	Settings map[string]string `json:"settings,omitempty"` // that differ from the scenario's at the scale of the plan
	Batch    []int64           `json:"batch"`              // all seeds of the figure, from which groups are made
	Seeds    []int64           `json:"seeds"`              // those that are computed here
	Group    int               `json:"group,omitempty"`    // largest group of batched seeds; 0 if seeds are not batched
	Steps    []int             `json:"steps"`              // that are missing
}

// Task returns a task.
func (p Plan) Task(id int) (Task, error) {
	if id < 0 || id >= len(p.Tasks) {
		return Task{}, fmt.Errorf("there is no task %d: the plan has %s, counted from 0", id,
			runs.Plural(len(p.Tasks), "task"))
	}
	return p.Tasks[id], nil
}

// Array is a range of tasks of one stage that need the same resources, as an array job has them, with consecutive IDs.
type Array []Task

// Arrays splits the tasks into arrays.
func (p Plan) Arrays() []Array {
	var out []Array
	for _, t := range p.Tasks {
		if last := len(out) - 1; last >= 0 && out[last][0].Stage == t.Stage && out[last][0].resources() == t.resources() {
			out[last] = append(out[last], t)
		} else {
			out = append(out, Array{t})
		}
	}
	return out
}

// resources are equal for tasks of one array.
func (t Task) resources() string {
	return fmt.Sprintf("%t %5d %9d %t", t.GPU, t.CPUs, t.MemoryMB, len(t.After) > 0)
}

// After lists the stages of which a task of the array needs results.
func (p Plan) After(a Array) []Stage {
	var out []Stage
	for _, t := range a {
		for _, id := range t.After {
			out = append(out, p.Tasks[id].Stage)
		}
	}
	slices.SortFunc(out, func(a, b Stage) int { return slices.Index(Stages, a) - slices.Index(Stages, b) })
	return slices.Compact(out)
}

// Encode returns the plan as JSON.
func (p Plan) Encode() ([]byte, error) {
	text, err := json.Marshal(p)
	return append(text, '\n'), err
}

// Write writes the plan to a file, atomically.
func (p Plan) Write(path string) error {
	text, err := p.Encode()
	if err == nil {
		err = artifact.Replace(path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write the plan %s: %w", path, err)
	}
	return nil
}

// Read reads and checks a plan.
func Read(path string) (Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Plan{}, fmt.Errorf("cannot read the plan: %w", err)
	}
	p, err := Decode(text)
	if err != nil {
		return Plan{}, fmt.Errorf("%s is not a plan that can be used: %w", path, err)
	}
	return p, nil
}

// Decode reads a plan from JSON and checks it.
func Decode(text []byte) (p Plan, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return Plan{}, fmt.Errorf("it is not JSON of a plan (%w)", err)
	}
	if p.Format != Format {
		return Plan{}, fmt.Errorf("it has format %d, this program reads format %d: make it again with `replicate plan`",
			p.Format, Format)
	}
	if _, err := experiment.ParseScale(p.Scale); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Steps is the number of steps of the task's runs, over all seeds.
func (t Task) Steps() int {
	sum := 0
	for _, r := range t.Runs {
		sum += len(r.Seeds) * len(r.Steps)
	}
	return sum
}

// String names the task's work for people: "gaussian/ours seeds 0, 1, 2 (159 steps); and 3 more".
func (t Task) String() string {
	switch {
	case t.Pretrain != nil:
		return fmt.Sprintf("pre-training of width %d, split %d", t.Pretrain.Width, t.Pretrain.Split)
	case t.Features != nil:
		return fmt.Sprintf("features of %s, seed %d", t.Features.Scenario, t.Features.Seed)
	case len(t.Runs) == 0:
		return "nothing"
	}
	r := t.Runs[0]
	var seeds []string
	for _, seed := range r.Seeds {
		seeds = append(seeds, fmt.Sprint(seed))
	}
	text := fmt.Sprintf("%s/%s seeds %s, %d steps", r.Scenario, r.Series, strings.Join(seeds, ", "), len(r.Steps))
	if more := len(t.Runs) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

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
