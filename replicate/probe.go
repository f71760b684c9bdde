package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// probeTime is how long two processes that probe locks wait for each other.
const probeTime = 2 * time.Minute

// probeCommand is what the first job of a submission runs on two nodes: task 0 of srun holds a lock in the folder, the
// others must not get it.
func probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe-locks RESULTS",
		Short:  "Check, by two processes that srun starts, that a lock in a results folder excludes the other node",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := context.WithTimeout(cmd.Context(), probeTime)
			defer stop()
			switch rank := os.Getenv("SLURM_PROCID"); rank {
			case "":
				return usage.Errorf("%s is started by srun, with two tasks", cmd.CommandPath())
			case "0":
				return holdProbe(ctx, args[0])
			default:
				return tryProbe(ctx, args[0])
			}
		},
	}
}

// probed is the file by which a process tells the holder of the lock that it has tried it.
func probed(dir string) string { return filepath.Join(dir, ".probed") }

// holdProbe holds the lock until the other process has tried it.
func holdProbe(ctx context.Context, dir string) error {
	os.Remove(probed(dir))
	release, err := runs.HoldProbe(ctx, dir)
	if err != nil {
		return err
	}
	defer release()
	for {
		if err := os.Remove(probed(dir)); err == nil {
			return nil
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("the other node has not tried the lock in %s: %w", dir, err)
		}
	}
}

// tryProbe tries the lock as soon as it is held.
func tryProbe(ctx context.Context, dir string) error {
	for {
		err := runs.TryProbe(dir)
		var folder *runs.FolderError
		if err == nil || errors.As(err, &folder) {
			return errors.Join(err, os.WriteFile(probed(dir), nil, 0o644))
		}
		if pause(ctx) != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// probeHere checks on this machine that a lock of one process excludes another.
func probeHere(ctx context.Context, dir string) error {
	release, err := runs.HoldProbe(ctx, dir)
	if err != nil {
		return err
	}
	defer release()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	other := exec.CommandContext(ctx, program, "probe-locks", dir)
	other.Env = append(os.Environ(), "SLURM_PROCID=1")
	text, err := other.CombinedOutput()
	os.Remove(probed(dir))
	if err != nil {
		message := strings.TrimPrefix(strings.TrimSpace(string(text)), "replicate: ")
		return fmt.Errorf("%s; with --own-folders no locks are needed", message)
	}
	return nil
}
