package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
	"time"

	"tvps/data/artifact"
)

// slurmJob is an array of workers, each of which computes the missing runs that no other computes, or the job that
// draws after them. Slurm restarts workers after a lost node, preemption or a time limit. Paths are absolute: batch
// scripts run on other nodes.
type slurmJob struct {
	Name    string   // as "tvps-fig1-gpu"; of its script and logs
	Scripts string   // folder of the script; the logs are in its folder logs
	Workers int      // of an array; 0 for the job that draws
	Command []string // of a worker, or of drawing
	Folder  string   // in which the command starts
	Lines   []string // further options of sbatch, as "--constraint=haswell"
}

//go:embed slurm.sh
var scriptText string

var batchScript = template.Must(template.New("slurm.sh").Funcs(template.FuncMap{"quote": quote}).Parse(scriptText))

// Script is the batch script of the job.
func (j slurmJob) Script() ([]byte, error) {
	var out bytes.Buffer
	err := batchScript.Execute(&out, j)
	return out.Bytes(), err
}

// File is the path of the script.
func (j slurmJob) File() string { return filepath.Join(j.Scripts, j.Name+".sbatch") }

// Last is the index of the last worker of an array.
func (j slurmJob) Last() int { return j.Workers - 1 }

// Logs is the pattern of the log's path, in which Slurm puts name, number, array index and node.
func (j slurmJob) Logs() string {
	name := "%x-%j-%N.log"
	if j.Workers > 0 {
		name = "%x-%A_%a-%N.log"
	}
	return filepath.Join(strings.ReplaceAll(j.LogFolder(), "%", "%%"), name)
}

// LogFolder is the folder of the logs.
func (j slurmJob) LogFolder() string { return filepath.Join(j.Scripts, "logs") }

// CommandLine is the command as a shell reads it.
func (j slurmJob) CommandLine() string { return quote(j.Command...) }

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

// Write writes the script and makes the folder of the logs.
func (j slurmJob) Write() error {
	text, err := j.Script()
	if err == nil {
		err = os.MkdirAll(j.LogFolder(), 0o755)
	}
	if err == nil {
		err = artifact.Replace(j.File(), text, 0o700)
	}
	if err != nil {
		return fmt.Errorf("cannot write the batch script: %w", err)
	}
	return nil
}

// submitJobs submits jobs whose scripts were written, all or none, and returns their numbers. The last one waits until
// the others have ended, however they end. After an error those that Slurm has accepted are cancelled; it returns the
// numbers of those that it cannot cancel.
func submitJobs(ctx context.Context, jobs []slurmJob) (ids []string, err error) {
	for i, j := range jobs {
		var options []string
		if i == len(jobs)-1 && i > 0 {
			options = append(options, "--dependency=afterany:"+strings.Join(ids, ":"))
		}
		id, err := j.submit(ctx, options...)
		if err != nil {
			if len(ids) > 0 {
				if _, cancelErr := slurmCommand(context.WithoutCancel(ctx), "scancel", ids...); cancelErr != nil {
					return ids, fmt.Errorf("job %s was not submitted (%w), but jobs %s were and cannot be cancelled: %w",
						j.Name, err, strings.Join(ids, ", "), cancelErr)
				}
			}
			return nil, fmt.Errorf("job %s was not submitted, nor is any other: %w", j.Name, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// submit submits a job and returns its number.
func (j slurmJob) submit(ctx context.Context, options ...string) (string, error) {
	text, err := slurmCommand(ctx, "sbatch", append(append([]string{"--parsable"}, options...), j.File())...)
	if err != nil {
		return "", err
	}
	found := jobNumber.FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("sbatch printed %q instead of the number of a job", text)
	}
	return found[1], nil
}

// jobNumber is the line of sbatch with the number of a job, which the name of a cluster may follow. Sites print other
// lines as well.
var jobNumber = regexp.MustCompile(`(?m)^(\d+)(?:;\S*)?\r?$`)

// A busy controller is asked again for so long, in such intervals. Tests shorten them.
var (
	patience = 2 * time.Minute
	interval = 5 * time.Second
)

var busyController = regexp.MustCompile(
	`Socket timed out|Unable to contact slurm controller|temporarily unable|try again later`)

// slurmCommand runs a command of Slurm and returns its output. Errors carry what it printed. Once it has started it is
// not interrupted, nor by Ctrl-C at a terminal: the number of a job that a killed sbatch had submitted would be lost.
// An array that a busy controller took without an answer is submitted twice: its workers then find less to do.
func slurmCommand(ctx context.Context, name string, arguments ...string) (string, error) {
	for begin := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		cmd := exec.Command(name, arguments...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		wait, err := artifact.Start(cmd, artifact.OwnGroup)
		if err == nil {
			err = wait()
		}
		said := strings.Join(strings.Fields(stderr.String()), " ")
		switch {
		case err == nil:
			return stdout.String(), nil
		case errors.Is(err, exec.ErrNotFound):
			return "", fmt.Errorf("there is no %s: call this where jobs are submitted from, usually a login node", name)
		case !busyController.MatchString(said) || time.Since(begin) > patience:
			return "", fmt.Errorf("%s: %w: %s", name, err, said)
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}
