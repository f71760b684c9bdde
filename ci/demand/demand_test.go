package demand

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"A=b", "MARK=one two"}
	if err := cmd.Start(); err != nil {
		t.Skipf("sleep does not start: %v", err)
	}
	want := []string{fmt.Sprint(cmd.Process.Pid)}
	if got := Processes("MARK", "one two"); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := Processes("MARK", "one"); len(got) > 0 {
		t.Errorf("another value finds %v", got)
	}
	if got := Processes("ARK", "one two"); len(got) > 0 {
		t.Errorf("another name finds %v", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got := Processes("MARK", "one two"); len(got) > 0 {
		t.Errorf("%v are found after their end", got)
	}
}
