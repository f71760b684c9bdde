package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// installGoNB makes a kernelspec "testgonb" for this test with a temporary folder of its own. At the end of the
// test the folder must be empty, and no process of the kernel may be left.
func installGoNB(t *testing.T) {
	t.Helper()
	gonb := demand.GoNB(t)
	marker := fmt.Sprintf("%s of %d", t.Name(), os.Getpid())
	dir := t.TempDir()
	spec, _ := json.Marshal(map[string]any{
		"argv": []string{gonb, "--kernel", "{connection_file}", "--raw_error"}, "display_name": "GoNB", "language": "go",
		"interrupt_mode": "message", "env": map[string]string{"GOFLAGS": "-mod=mod", "GOPROXY": "off",
			"RUNNER_TEST": marker},
	})
	demand.NoError(t, os.MkdirAll(filepath.Join(dir, "kernels", "testgonb"), 0o755))
	demand.Write(t, filepath.Join(dir, "kernels", "testgonb", "kernel.json"), spec)
	t.Setenv("JUPYTER_PATH", dir)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("temporary files were left: %v", left)
		}
		if left := demand.Processes("RUNNER_TEST", marker); len(left) > 0 {
			t.Errorf("the processes %v were left", left)
		}
	})
}

// job is a job for a Go notebook with these cells.
func job(t *testing.T, sources ...string) Job {
	t.Helper()
	nb := newNotebook(sources...)
	nb.Metadata["kernelspec"] = map[string]any{"name": "testgonb", "language": "go"}
	dir := t.TempDir()
	j := Job{File: filepath.Join(dir, "in.ipynb"), Output: filepath.Join(dir, "out.ipynb")}
	demand.NoError(t, nbformat.Write(j.File, nb))
	return j
}

func TestGoNBFailures(t *testing.T) {
	installGoNB(t)
	for name, c := range map[string]struct {
		source, want string
		timeout      time.Duration
		is           error
	}{
		"compile error":  {"%%\nvar unused int", "declared and not used: unused", 0, nil},
		"parse error":    {"func f( {", "expected ')', found '{'", 0, nil},
		"panic":          {"%%\npanic(\"boom\")", "panic: boom", 0, nil},
		"os.Exit":        {"%%\nos.Exit(4)", "exit status 4", 0, nil},
		"unknown import": {"import \"no.such/x\"\n%%\nx.F()", "no.such/x", 0, nil},
		"endless": {"%%\nfor {\n\ttime.Sleep(time.Hour)\n}", "did not end within", time.Second,
			context.DeadlineExceeded},
		"kernel killed": {"!kill -9 $PPID", "the kernel died", 0, jupyter.ErrKernelDied},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(t, c.source, "%%\nprintln(\"never\")")
			j.Timeout = c.timeout
			p, err := j.Prepare()
			demand.NoError(t, err)
			_, result, err := p.Run(context.Background())
			var failed *CellError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if failed.Source != c.source || failed.Number != 1 || result.Ran != 1 {
				t.Errorf("cell %d of %d that ran, source %q", failed.Number, result.Ran, failed.Source)
			}
			out, err := nbformat.Read(j.Output)
			if err != nil || len(out.Cells) != 2 || len(out.Cells[1].Outputs) > 0 {
				t.Errorf("the output notebook: %+v, error %v", out, err)
			}
		})
	}
}
