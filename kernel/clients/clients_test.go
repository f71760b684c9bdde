package clients

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/setup"
)

var update = flag.Bool("update", false, "rewrite the table of clients in kernel/INTERNALS.md")

// browserRow is what the tests in Chromium show.
const browserRow = "| jupyterlab | " + setup.LabVersion + " | cells, charts, completion, sliders, also with a base URL " +
	"and TLS; a server that is interrupted or killed leaves nothing |\n"

// TestClients runs clients of Jupyter in the versions of requirements.txt with the kernel installed below
// TVPS_TEST_PREFIX: jupyter_kernel_test alone, with TVPS_NIGHTLY all. The table in kernel/INTERNALS.md must say the
// same.
func TestClients(t *testing.T) {
	t.Parallel()
	python, prefix := os.Getenv("TVPS_PYTHON"), demand.Prefix(t)
	if python == "" {
		t.Skip("TVPS_PYTHON is not set: no clients are run")
	}
	needs, args := []string{"-r", "requirements.txt"}, []string{"-B", "clients.py"}
	if !demand.Nightly {
		needs, args = []string{"-c", "requirements.txt", "jupyter_kernel_test"}, append(args, "jupyter_kernel_test")
	}
	dir := os.Getenv("TVPS_CLIENTS_VENV") // one that has them
	if dir == "" {
		dir = t.TempDir()
		for _, args := range [][]string{
			{python, "-m", "venv", dir},
			append([]string{filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "-q"}, needs...),
		} {
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("the clients cannot be installed: %q: %v\n%s", args, err, out)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "python"), args...)
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+filepath.Join(prefix, "share", "jupyter"))
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, log.String())
	}
	rows := ""
	for line := range strings.Lines(string(out)) {
		rows += "| " + strings.ReplaceAll(strings.TrimSpace(line), "\t", " | ") + " |\n"
	}
	t.Log("\n" + rows)
	readme := filepath.Join("..", "INTERNALS.md")
	text := demand.Read(t, readme)
	have, err := demand.Block(text, "clients")
	demand.NoError(t, err)
	if !demand.Nightly {
		demand.Words(t, have, rows)
		return
	}
	want := "\n| client | version | what passes |\n|---|---|---|\n" + rows + browserRow + "\n"
	if *update {
		text, err = demand.SetBlock(text, "clients", want)
		demand.NoError(t, err)
		demand.Write(t, readme, text)
	} else if have != want {
		t.Errorf("kernel/INTERNALS.md has\n%s, want\n%s; repeat with -update", have, want)
	}
}
