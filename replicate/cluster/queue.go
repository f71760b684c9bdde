package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// queued is a job, or a task of an array, that waits or runs.
type queued struct {
	job   int
	index int    // in an array; -1 for a job that is none
	state string // as "PENDING"
	node  string
	why   string // the reason for which it waits
}

// readQueue asks Slurm which of the jobs are in the queue: those of their number and name.
func readQueue(ctx context.Context, jobs []Submitted) ([]queued, error) {
	text, err := command(ctx, "squeue", "-h", "-r", "--me", "-o", "%F|%K|%T|%N|%r|%j")
	if err != nil {
		return nil, err
	}
	return parseQueue(text, jobs), nil
}

func parseQueue(text string, jobs []Submitted) []queued {
	var out []queued
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 6 {
			continue
		}
		job, err := strconv.Atoi(fields[0])
		ours := func(j Submitted) bool { return j.ID == job && title(j.Name) == fields[5] }
		if err != nil || !slices.ContainsFunc(jobs, ours) {
			continue
		}
		q := queued{job: job, index: -1, state: fields[2], node: fields[3], why: fields[4]}
		if index, err := strconv.Atoi(fields[1]); err == nil {
			q.index = index
		}
		out = append(out, q)
	}
	return out
}
