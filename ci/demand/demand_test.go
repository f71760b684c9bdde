package demand_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"tvps/ci/demand"
)

func TestProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	cmd := exec.Command("cat")
	cmd.Env = []string{"A=b", "MARK=one two"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Wait for its answer: just after Start its environment may not be visible yet.
	fmt.Fprintln(in, "ready")
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("cat answers %q, %v", line, err)
	}
	want := []string{fmt.Sprint(cmd.Process.Pid)}
	if got := demand.Processes("MARK", "one two"); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := demand.Processes("MARK", "one"); len(got) > 0 {
		t.Errorf("with another value: found %v", got)
	}
	if got := demand.Processes("ARK", "one two"); len(got) > 0 {
		t.Errorf("with another name: found %v", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got := demand.Processes("MARK", "one two"); len(got) > 0 {
		t.Errorf("found %v after the process ended", got)
	}
}
