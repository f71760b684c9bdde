package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tvps/data/artifact"
	"tvps/replicate/usage"
)

// Submitted is a job that Slurm has accepted.
type Submitted struct {
	Name  string `json:"name"`
	ID    int    `json:"id"`
	First int    `json:"first"`           // the first task of an array
	Count int    `json:"count,omitempty"` // tasks of an array
}

// jobsFile is the file next to the plan that lists what was submitted.
func jobsFile(plan string) string { return filepath.Join(filepath.Dir(plan), "jobs.json") }

// WriteScripts writes the scripts of jobs and makes the folder of their logs.
func WriteScripts(jobs []Job) error {
	for _, j := range jobs {
		text, err := j.Script()
		if err != nil {
			return err
		}
		if err := artifact.MakeFolder(logFolder(j.Slurm.Plan)); err != nil {
			return err
		}
		if err := artifact.Replace(j.File(), text, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Submit submits jobs whose scripts were written, all or none: after an error it cancels those that Slurm has accepted.
func Submit(ctx context.Context, jobs []Job) ([]Submitted, error) {
	ids := map[string]int{}
	var out []Submitted
	for _, j := range jobs {
		os.Remove(cancelFile(j.Slurm.Plan))
		os.Remove(exitFile(j.Slurm.Plan))
		id, err := j.submit(ctx, ids)
		if err == nil {
			ids[j.Name] = id
			out = append(out, Submitted{Name: j.Name, ID: id, First: j.First, Count: j.Count})
			err = writeJobs(j.Slurm.Plan, out)
		}
		if err != nil {
			if cancelErr := cancel(context.WithoutCancel(ctx), j.Slurm.Plan, out); cancelErr != nil {
				err = fmt.Errorf("%w (and the jobs before it cannot be cancelled: %w)", err, cancelErr)
			}
			if ctx.Err() != nil {
				return nil, usage.Interruptedf("interrupted before job %s; those before it are cancelled", j.Name)
			}
			return nil, fmt.Errorf("job %s was not submitted, those before it are cancelled: %w", j.Name, err)
		}
	}
	return out, nil
}

// submit submits a job that waits for others, whose numbers are given by name. It returns its number.
func (j Job) submit(ctx context.Context, ids map[string]int) (int, error) {
	arguments := []string{"--parsable", "--job-name=" + j.Title()} // also if Options.Lines have one
	if len(j.After) > 0 {
		var after []string
		for _, name := range j.After {
			after = append(after, strconv.Itoa(ids[name]))
		}
		arguments = append(arguments, "--dependency=afterok:"+strings.Join(after, ":"))
	}
	text, err := command(ctx, "sbatch", append(arguments, j.File())...)
	if err != nil {
		return 0, err
	}
	found := jobNumber.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("sbatch printed %q instead of the number of a job", text)
	}
	return strconv.Atoi(found[1])
}

// jobNumber is the line of sbatch with the number of a job, which the name of a cluster may follow. Sites print other
// lines as well.
var jobNumber = regexp.MustCompile(`(?m)^(\d+)(?:;\S*)?\r?$`)

func writeJobs(plan string, jobs []Submitted) error {
	text, err := json.MarshalIndent(jobs, "", "  ")
	if err != nil {
		return err
	}
	return artifact.Replace(jobsFile(plan), append(text, '\n'), 0o644)
}

// ReadJobs returns the jobs of a plan that were submitted; none if there are none.
func ReadJobs(plan string) ([]Submitted, error) {
	text, err := os.ReadFile(jobsFile(plan))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Submitted
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", jobsFile(plan), err)
	}
	return out, nil
}

// Cancel cancels the jobs of a plan that are in the queue. It returns how many there were.
func Cancel(ctx context.Context, plan string) (int, error) {
	jobs, err := ReadJobs(plan)
	if err != nil {
		return 0, err
	}
	queue, err := readQueue(ctx, jobs)
	if err != nil {
		return 0, err
	}
	jobs = slices.DeleteFunc(jobs, func(j Submitted) bool {
		return !slices.ContainsFunc(queue, func(q queued) bool { return q.job == j.ID })
	})
	return len(jobs), cancel(ctx, plan, jobs)
}

// cancel cancels jobs of a plan, and tells running tasks not to go back to the queue.
func cancel(ctx context.Context, plan string, jobs []Submitted) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := os.WriteFile(cancelFile(plan), nil, 0o644); err != nil {
		return err
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, strconv.Itoa(j.ID))
	}
	_, err := command(ctx, "scancel", ids...)
	return err
}

// MaxArraySize asks Slurm for the largest number of tasks in an array.
func MaxArraySize(ctx context.Context) (int, error) {
	text, err := command(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)$`).FindStringSubmatch(text)
	if found == nil {
		return 0, errors.New("`scontrol show config` does not say the MaxArraySize")
	}
	return strconv.Atoi(found[1])
}

// errNoSlurm is the error where Slurm's commands are not installed.
var errNoSlurm = errors.New("call this where jobs are submitted from, usually a login node")

// command runs a command of Slurm and returns its output. Errors carry what it printed. Once it has started it is not
// interrupted: the number of a job that a killed sbatch had submitted would be lost.
func command(ctx context.Context, name string, arguments ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	cmd := exec.Command(name, arguments...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s: %w", name, errNoSlurm)
	case err != nil:
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return stdout.String(), nil
}
