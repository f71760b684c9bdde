package setup

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestLabEndsWithUs: JupyterLab does not run on after this program was killed.
func TestLabEndsWithUs(t *testing.T) {
	const mark = "LAB_TEST_START"
	if os.Getenv(mark) != "" {
		lab := []string{"sh", "-c", "echo started $$; exec sleep 100"}
		t.Fatal(runLab(t.Context(), Layout{}, t.TempDir(), lab, os.Stdout))
	}
	us := exec.Command(os.Args[0], "-test.run=^TestLabEndsWithUs$")
	us.Env = append(os.Environ(), mark+"=1", "TMPDIR="+t.TempDir())
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	us.Process.Kill()
	_ = us.Wait()
	var pid int
	if _, scanErr := fmt.Sscanf(line, "started %d", &pid); scanErr != nil {
		t.Fatalf("it said %q, %v", line, err)
	}
	for range 100 { // a process that has ended and is not waited for has no command line
		if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || len(command) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("JupyterLab is still running")
}
