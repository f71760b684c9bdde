// Package cluster distributes the runs of figures over the tasks of a cluster. A plan lists every run that is missing,
// in tasks that one process each computes: it needs neither GPU nor data. A worker computes one task.
package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/gomlx_models/resnet"
)

// Format is the number of the plan's format that this program writes and reads. Plans of format 1 had no checksum.
const Format = 2

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
	Seconds  float64   `json:"seconds"`           // an estimate
	Source   Estimate  `json:"source"`            // of the estimate
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

// Estimate says where the seconds of a task come from.
type Estimate string

// The kinds of estimate, the better one first.
const (
	Measured Estimate = "measured" // from stored runs of the same scenario, learner and kind of backend
	Guessed  Estimate = "guessed"  // from constants of this program
)

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
	Cost     float64           `json:"cost"`               // of a step of a seed, relative to the scenario's others
}

// MissingError is returned for a task that the plan does not have.
type MissingError struct{ Task, Tasks int }

// Error names the valid numbers.
func (e *MissingError) Error() string {
	if e.Tasks == 0 {
		return fmt.Sprintf("there is no task %d: the plan has none, all runs were stored", e.Task)
	}
	return fmt.Sprintf("there is no task %d: the plan has 0 to %d", e.Task, e.Tasks-1)
}

// Task returns a task. Errors: a *MissingError.
func (p Plan) Task(id int) (Task, error) {
	if id < 0 || id >= len(p.Tasks) {
		return Task{}, &MissingError{id, len(p.Tasks)}
	}
	return p.Tasks[id], nil
}

// Array is a range of tasks of one stage that need the same resources, as an array job has them.
type Array struct {
	Stage    Stage
	GPU      bool
	CPUs     int
	MemoryMB int
	Waits    bool   // whether its tasks need results of other tasks
	Tasks    []Task // with consecutive IDs
}

// First is the ID of the first task.
func (a Array) First() int { return a.Tasks[0].ID }

// Longest is the largest estimate of a task, in seconds.
func (a Array) Longest() float64 {
	longest := 0.
	for _, t := range a.Tasks {
		longest = max(longest, t.Seconds)
	}
	return longest
}

// Arrays splits the tasks into arrays.
func (p Plan) Arrays() []Array {
	var out []Array
	for _, t := range p.Tasks {
		of := Array{Stage: t.Stage, GPU: t.GPU, CPUs: t.CPUs, MemoryMB: t.MemoryMB, Waits: len(t.After) > 0}
		if last := len(out) - 1; last >= 0 && out[last].fits(of) {
			out[last].Tasks = append(out[last].Tasks, t)
			continue
		}
		of.Tasks = []Task{t}
		out = append(out, of)
	}
	return out
}

// fits tells whether tasks of another array can be in this one.
func (a Array) fits(b Array) bool {
	return a.Stage == b.Stage && a.GPU == b.GPU && a.CPUs == b.CPUs && a.MemoryMB == b.MemoryMB && a.Waits == b.Waits
}

// After lists the stages of which a task of the array needs results.
func (p Plan) After(a Array) []Stage {
	var out []Stage
	for _, t := range a.Tasks {
		for _, id := range t.After {
			out = append(out, p.Tasks[id].Stage)
		}
	}
	slices.SortFunc(out, func(a, b Stage) int { return slices.Index(Stages, a) - slices.Index(Stages, b) })
	return slices.Compact(out)
}

// Seconds sums the estimates of a plan's tasks, and follows the chain of tasks that takes longest.
func (p Plan) Seconds() (gpu, cores, path float64) {
	ends := make([]float64, len(p.Tasks))
	for i, t := range p.Tasks {
		if t.GPU {
			gpu += t.Seconds
		} else {
			cores += t.Seconds * float64(t.CPUs)
		}
		for _, before := range t.After {
			ends[i] = max(ends[i], ends[before])
		}
		ends[i] += t.Seconds
		path = max(path, ends[i])
	}
	return gpu, cores, path
}

// Encode returns the plan as JSON, a line for each task, with a checksum of its text at the end.
func (p Plan) Encode() ([]byte, error) {
	tasks := p.Tasks
	p.Tasks = []Task{}
	head, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(head, []byte("]\n}"))
	for i, t := range tasks {
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		separator := ",\n    "
		if i == 0 {
			separator = "\n    "
		}
		out = append(append(out, separator...), line...)
	}
	return seal(append(out, "\n  ]\n}\n"...)), nil
}

// end is the end of a plan's text.
const end = "\n}\n"

// seal adds the field sha256 to the end of a plan: the checksum of the text without it.
func seal(text []byte) []byte {
	field := fmt.Sprintf(",\n  \"sha256\": \"%x\"", sha256.Sum256(text))
	return slices.Concat(bytes.TrimSuffix(text, []byte(end)), []byte(field+end))
}

// unseal returns a plan's text without its checksum. Errors: there is none, or the text was changed.
func unseal(text []byte) ([]byte, error) {
	body := text[:max(0, len(text)-len(seal(nil)))]
	if body = slices.Concat(body, []byte(end)); !bytes.Equal(seal(body), text) {
		return nil, errors.New("it does not end with the checksum of its text, so it was changed or cut off: " +
			"make it again with `replicate plan`")
	}
	return body, nil
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

// largest is the size of the largest plan that is read, in bytes: that of all figures at the paper's scale has a
// hundredth of it.
const largest = 64 << 20

// Read reads and checks a plan.
func Read(path string) (Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return Plan{}, fmt.Errorf("cannot read the plan: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err != nil {
		return Plan{}, fmt.Errorf("cannot read the plan: %w", err)
	}
	p, err := Decode(text)
	if err != nil {
		return Plan{}, fmt.Errorf("%s is not a plan that can be used: %w", path, err)
	}
	return p, nil
}

// Decode reads a plan from JSON and checks it. A text in which anything was changed after Encode is an error.
func Decode(text []byte) (Plan, error) {
	if len(text) > largest {
		return Plan{}, fmt.Errorf("it has more than %d MiB", largest>>20)
	}
	var format struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &format); err != nil {
		return Plan{}, fmt.Errorf("it is not JSON of a plan (%w)", err)
	}
	if format.Format != Format {
		return Plan{}, fmt.Errorf("it has format %d, this program reads format %d: make it again with `replicate plan`",
			format.Format, Format)
	}
	text, err := unseal(text)
	if err != nil {
		return Plan{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var p Plan
	if err := decoder.Decode(&p); err != nil {
		return Plan{}, err
	}
	return p, p.check()
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
