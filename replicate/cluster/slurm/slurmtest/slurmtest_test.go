package slurmtest

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestStopNode: all processes of a stopped node are gone, and its job starts again on another one.
func TestStopNode(t *testing.T) {
	c := Start(t)
	script := c.path("job.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $SLURMD_NODENAME\nsleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := c.path("job.log")
	c.must("sbatch", "--requeue", "--open-mode=append", "--output="+log, script)
	started := func(node string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(log)
			return strings.Contains(string(text), node)
		}
	}
	c.Wait(time.Minute, "job on n1", started("n1"))
	c.StopNode("n1")
	if left := processes("SLURMD_NODENAME=n1"); len(left) > 0 {
		t.Errorf("processes %v of n1 are alive", left)
	}
	c.Wait(2*time.Minute, "job on another node", func() bool { return started("n2")() || started("n3")() })
}
