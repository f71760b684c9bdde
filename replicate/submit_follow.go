package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// How often the queue is asked while it is waited for.
const (
	firstPoll = 2 * time.Second
	lastPoll  = 30 * time.Second
)

// follow shows progress until none of the jobs is in the queue, then what the last one has drawn.
func (s *submitFlags) follow(cmd *cobra.Command, jobs []slurmJob, ids []int, figures []paper.Figure,
	o lab.Options) error {
	ctx, shown := cmd.Context(), ""
	for pause := firstPoll; ; pause = min(lastPoll, pause*3/2) {
		waiting, err := inQueue(ctx, ids)
		if err != nil && ctx.Err() == nil {
			return err
		}
		all, err := s.states(figures, o)
		if err != nil {
			return err
		}
		if text := summary(all); text != shown {
			fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
			shown, pause = text, firstPoll
		}
		if !waiting && ctx.Err() == nil {
			return s.ended(cmd.OutOrStdout(), jobs, ids, all)
		}
		select {
		case <-ctx.Done():
			return usage.Interruptedf("stopped waiting; the jobs stay in the queue")
		case <-time.After(pause):
		}
	}
}

// ended prints what was drawn, and what the workers said last if runs are missing.
func (s *submitFlags) ended(out io.Writer, jobs []slurmJob, ids []int, all []runState) error {
	missing := slices.ContainsFunc(all, func(r runState) bool { return r.state.Kind != runs.Done })
	logs, err := os.ReadDir(jobs[0].LogFolder())
	if err != nil {
		return fmt.Errorf("cannot read the logs: %w", err)
	}
	for i, j := range jobs {
		for _, log := range logs {
			begin := fmt.Sprintf("%s-%d", j.Name, ids[i])
			if !strings.HasPrefix(log.Name(), begin+"-") && !strings.HasPrefix(log.Name(), begin+"_") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(j.LogFolder(), log.Name()))
			if err != nil {
				return fmt.Errorf("cannot read a log: %w", err)
			}
			if j.Workers == 0 {
				_, _ = out.Write(text)
			} else if last := lastSentence(text); missing && last != "" {
				fmt.Fprintf(os.Stderr, "%s: %s\n", log.Name(), last)
			}
		}
	}
	if missing {
		return fmt.Errorf("the jobs have ended, but not all runs are stored: %s; the logs in %s say why", summary(all),
			jobs[0].LogFolder())
	}
	return nil
}

// lastSentence returns the error with which this program last ended according to its log; empty if it never did.
func lastSentence(log []byte) string {
	for _, line := range slices.Backward(strings.Split(string(log), "\n")) {
		if text, ok := strings.CutPrefix(line, "replicate: "); ok {
			return text
		}
	}
	return ""
}
