package cluster

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Slurm says how a plan is submitted. Paths are absolute: batch scripts run on other nodes.
type Slurm struct {
	Plan    string            // file of the plan; scripts, logs and exit codes are written next to it
	Program string            // of the worker
	Work    string            // folder in which jobs start
	Results string            // folder of the runs
	Folders map[string]string // of the figures, by command
	Environ map[string]string // variables that jobs get, besides those that Slurm passes on

	Partition, GPUPartition, Account, QOS string   // "" for the site's default
	GPU                                   string   // what a GPU task asks for, as "gpu:1" or "gpu:a100:1"
	Lines                                 []string // further options of sbatch, as "--constraint=haswell"

	Time       time.Duration // limit of a task; 0 for twice the longest estimate, and at least half an hour
	MaxRunning int           // tasks of an array that may run at the same time; 0 for all
	MaxArray   int           // Slurm's MaxArraySize
	Requeues   int           // how often a task that was stopped is queued again
	Retries    int           // how often a task that failed is computed again
}

// Job is a batch job: an array of tasks, or the job that draws after them.
type Job struct {
	Name  string   // as "gpu-2"; of its script, log and exit code
	First int      // the first task of an array
	Count int      // tasks of an array; 0 for the job that draws
	After []string // names of the jobs that must have succeeded

	GPU            bool
	CPUs, MemoryMB int
	Limit          time.Duration

	Slurm *Slurm
	Plan  *Plan
}

const (
	drawName   = "draw" // of the job that draws
	drawMemory = 2000   // MiB
	drawLimit  = 2 * time.Hour
	leastLimit = 30 * time.Minute // of an array
)

// Jobs returns the jobs of a plan in an order in which they can be submitted: pre-training, features, runs on
// GPU and on CPU, and drawing.
func Jobs(p *Plan, o *Slurm) []Job {
	var jobs []Job
	add := func(j Job) { j.Slurm, j.Plan = o, p; jobs = append(jobs, j) }
	ofStage := map[Stage][]string{}
	for _, a := range p.Arrays() {
		stage := a[0].Stage
		var after []string
		for _, before := range p.After(a) {
			after = append(after, ofStage[before]...)
		}
		for part := range slices.Chunk(a, max(1, o.MaxArray)) {
			name := fmt.Sprintf("%s-%d", stage, 1+len(ofStage[stage]))
			ofStage[stage] = append(ofStage[stage], name)
			add(Job{Name: name, First: part[0].ID, Count: len(part), After: after, GPU: a[0].GPU, CPUs: a[0].CPUs,
				MemoryMB: a[0].MemoryMB, Limit: o.limit(part)})
		}
	}
	var last []string
	for _, stage := range Stages {
		last = append(last, ofStage[stage]...)
	}
	add(Job{Name: drawName, After: last, CPUs: 2, MemoryMB: drawMemory, Limit: drawLimit})
	return jobs
}

// limit is the time limit of the tasks of an array.
func (o *Slurm) limit(tasks Array) time.Duration {
	if o.Time > 0 {
		return o.Time
	}
	seconds := slices.MaxFunc(tasks, func(a, b Task) int { return cmp.Compare(a.Seconds, b.Seconds) }).Seconds
	minutes := math.Ceil(2 * seconds / 60)
	return max(leastLimit, time.Duration(minutes)*time.Minute)
}

//go:embed script.sh
var scriptText string

var script = template.Must(template.New("script.sh").Funcs(template.FuncMap{"quote": quote,
	"exitFile": exitFile, "cancelFile": cancelFile, "attempts": AttemptsFolder}).Parse(scriptText))

// Script is the batch script of the job.
func (j Job) Script() ([]byte, error) {
	var out bytes.Buffer
	err := script.Execute(&out, j)
	return out.Bytes(), err
}

// File is the path of the script.
func (j Job) File() string { return filepath.Join(filepath.Dir(j.Slurm.Plan), j.Name+".sbatch") }

// Title is the name under which Slurm lists the job.
func (j Job) Title() string { return title(j.Name) }

func title(name string) string { return "tvps-" + name }

// Indices are those of the array, as "0-99%8".
func (j Job) Indices() string {
	text := fmt.Sprintf("0-%d", j.Count-1)
	if j.Slurm.MaxRunning > 0 {
		text += fmt.Sprintf("%%%d", j.Slurm.MaxRunning)
	}
	return text
}

// Logs is the pattern of the log's path, in which Slurm puts job, array index and node.
func (j Job) Logs() string {
	name := "%x-%j-%N.log"
	if j.Count > 0 {
		name = "%x-%A_%a-%N.log"
	}
	return filepath.Join(strings.ReplaceAll(logFolder(j.Slurm.Plan), "%", "%%"), name)
}

func logFolder(plan string) string { return filepath.Join(filepath.Dir(plan), "logs") }

// TimeLimit is the limit as Slurm writes it, in hours, minutes and seconds.
func (j Job) TimeLimit() string {
	s := int(j.Limit.Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Warning is how many seconds before the limit the job is told to save.
func (j Job) Warning() int { return int(min(2*time.Minute, j.Limit/3).Seconds()) }

// Partition is that of the job's kind.
func (j Job) Partition() string {
	if j.GPU {
		return j.Slurm.GPUPartition
	}
	return j.Slurm.Partition
}

// exitFile is the file in which the job that draws leaves its exit code.
func exitFile(plan string) string { return filepath.Join(filepath.Dir(plan), drawName+".exit") }

// cancelFile is the file by which [Cancel] tells running tasks not to go back to the queue.
func cancelFile(plan string) string { return filepath.Join(filepath.Dir(plan), "cancelled") }

// Draw lists the commands that draw the plan's figures, without the program.
func (j Job) Draw() []string {
	var out []string
	for _, figure := range j.Plan.Figures {
		words := slices.Concat([]string{figure, "--stored", "--scale", j.Plan.Scale}, j.Plan.Arguments,
			[]string{"--results", j.Slurm.Results, "--out", j.Slurm.Folders[figure]})
		out = append(out, quote(words...))
	}
	return out
}

// quote returns words of a shell command.
func quote(words ...string) string {
	var out []string
	for _, w := range words {
		plain := w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") == ""
		if !plain {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
