package artifact

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// TestEndsWithUs: a command does not run on after the process that started it was killed.
func TestEndsWithUs(t *testing.T) {
	const mark = "PROCESS_TEST_START"
	if os.Getenv(mark) != "" {
		cmd := exec.Command("sh", "-c", "echo started $$; exec sleep 100")
		cmd.Stdout = os.Stdout
		wait, err := Start(cmd, OwnGroup)
		demand.NoError(t, err)
		t.Fatal(wait())
	}
	us := exec.Command(os.Args[0], "-test.run=^TestEndsWithUs$")
	us.Env = append(os.Environ(), mark+"=1")
	out, err := us.StdoutPipe()
	demand.NoError(t, err)
	demand.NoError(t, us.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	us.Process.Kill()
	us.Wait()
	var pid int
	if _, scanErr := fmt.Sscanf(line, "started %d", &pid); scanErr != nil {
		t.Fatalf("it said %q, %v", line, err)
	}
	running := func() bool { // a process that has ended and is not waited for has no command line
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.Contains(string(command), "sleep\x00100")
	}
	for range 100 {
		if !running() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
	t.Error("the command is still running")
}
