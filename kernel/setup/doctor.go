package setup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/kernel/jupyter"
)

// Diagnose checks everything that a notebook needs, and runs a cell. It changes and downloads nothing. Notebooks
// cannot run if one of the checks has the status Fail.
func Diagnose(ctx context.Context, l Layout) []backend.Check {
	t, err := findGo(ctx, l.Root)
	if err != nil {
		fix := "install Go, or put it on PATH"
		return []backend.Check{{Name: "go", Status: backend.Fail, Detail: err.Error(), Fix: fix}}
	}
	detail := fmt.Sprintf("%s in %s, %d CPUs", t.version, t.root, runtime.NumCPU())
	checks := []backend.Check{{Name: "go", Status: backend.OK, Detail: detail}, checkCompiler(ctx, l)}
	for _, p := range append(slices.Clone(tools), gopls) {
		checks = append(checks, checkTool(l, t, p))
	}
	checks = append(checks, checkSpec(l, t), checkECharts(l), checkLab(ctx, l))
	for _, c := range backend.Diagnose(ctx, backend.Default) {
		if slices.Contains([]string{"backend", "plugin", "cache"}, c.Name) {
			checks = append(checks, c)
		}
	}
	return append(checks, roundTrip(ctx, l))
}

// judge makes a check. Without a problem it is OK, and its detail is good; otherwise it has the status bad.
func judge(name, good, problem string, bad backend.Status, fix string) backend.Check {
	if problem == "" {
		return backend.Check{Name: name, Status: backend.OK, Detail: good}
	}
	return backend.Check{Name: name, Status: bad, Detail: problem, Fix: fix}
}

// checkCompiler looks for the C compiler that cells with XLA need.
func checkCompiler(ctx context.Context, l Layout) backend.Check {
	good, problem := "not needed: built with -tags noxla", ""
	if backend.XLABuilt {
		cc, err := runGo(ctx, l.Root, "env", "CC")
		if name, _, _ := strings.Cut(strings.TrimSpace(cc), " "); err == nil {
			good, err = exec.LookPath(name)
		}
		if err != nil {
			problem = err.Error()
		}
	}
	return judge("compiler", good, problem, backend.Fail,
		"install a C compiler (on Debian: `apt-get install gcc libc6-dev`)")
}

// checkTool looks for a program. gopls is optional.
func checkTool(l Layout, t toolchain, p tool) backend.Check {
	problem, bad := t.problem(l, p), backend.Fail
	if problem != "" {
		problem = l.program(p) + ": " + problem
	}
	if problem != "" && p == gopls {
		problem, bad = problem+": cells are not completed", backend.Warn
	}
	version := cmp.Or(t.wanted[p.module], "of this checkout")
	return judge(p.name, version+", built by "+t.version+", in "+l.program(p), problem, bad, l.command("install"))
}

// checkSpec checks that the kernelspec is up to date and that Jupyter finds it before others of the same name.
func checkSpec(l Layout, t toolchain) backend.Check {
	c := judge("kernelspec", l.specFile()+" is for this checkout", specProblem(l, t), backend.Fail, l.command("install"))
	if c.Status != backend.OK {
		return c
	}
	if l.Prefix != "" {
		c.Detail += "; Jupyter finds it if JUPYTER_PATH contains " + l.Jupyter
		return c
	}
	if found, err := jupyter.Find(kernelName); err == nil && found.Dir != l.specDir() {
		c.Status, c.Detail = backend.Warn, fmt.Sprintf("Jupyter uses %s instead of %s", found.Dir, l.specDir())
		c.Fix = "delete the former, or unset JUPYTER_PATH"
	}
	return c
}

// checkECharts looks for the script of the charts. Without it they need the network.
func checkECharts(l Layout) backend.Check {
	return judge("echarts", l.servedScript(), scriptProblem(l), backend.Warn, l.command("install"))
}

// scriptProblem says why the script of the charts must be written; empty if it is up to date.
func scriptProblem(l Layout) string {
	have, err := os.ReadFile(l.servedScript())
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(have, figures.ECharts) {
		return l.servedScript() + " is out of date"
	}
	return ""
}

// checkLab looks for JupyterLab: `kernel run` needs none.
func checkLab(ctx context.Context, l Layout) backend.Check {
	missing := ""
	lab, err := findLab(ctx, l)
	if err != nil {
		missing = err.Error()
	}
	return judge("jupyterlab", lab.version+" in "+lab.where, missing, backend.Warn, labFix(l))
}

// trip is the cell of the round trip: it imports GoMLX and what all notebooks import.
const trip = `import (
	"github.com/gomlx/gomlx/core/graph"
	"tvps/replicate/notebook"
	"tvps/replicate/paper"
)

%%
var _ *graph.Node
var _ notebook.Options
fmt.Println("figures:", len(paper.Figures()))
`

// roundTrip starts the kernel, runs a cell in it and shuts it down.
func roundTrip(ctx context.Context, l Layout) backend.Check {
	problem := ""
	took, err := runTrip(ctx, l)
	if err != nil {
		problem = err.Error()
	}
	return judge("round trip", took, problem, backend.Fail, l.command("install"))
}

func runTrip(ctx context.Context, l Layout) (took string, err error) {
	spec, err := readSpec(l)
	if err != nil {
		return "", fmt.Errorf("cannot start a kernel: %w", err)
	}
	dir, remove, err := artifact.TempFolder("tvps doctor ") // a folder outside the module
	if err != nil {
		return "", err
	}
	defer func() { _ = remove() }()
	begin := time.Now()
	kernel, err := jupyter.Start(ctx, spec, jupyter.Options{Dir: dir})
	if err != nil {
		return "", fmt.Errorf("the kernel does not start: %w", err)
	}
	started := time.Since(begin)
	printed, err := runCell(ctx, kernel, trip)
	ran := time.Since(begin) - started
	if err == nil && !strings.HasPrefix(printed, "figures: ") {
		err = fmt.Errorf("the cell printed %q", printed)
	}
	return fmt.Sprintf("started in %.1f s, ran a cell with this module and GoMLX in %.1f s", started.Seconds(),
		ran.Seconds()), errors.Join(err, kernel.Close())
}

// runCell runs a cell and returns its stdout. It fails if the cell fails.
func runCell(ctx context.Context, kernel *jupyter.Kernel, code string) (string, error) {
	var stdout, stderr strings.Builder
	reply, err := kernel.Execute(ctx, code, func(o jupyter.Output) {
		switch o.Name {
		case "stdout":
			stdout.WriteString(o.Text)
		case "stderr":
			stderr.WriteString(o.Text)
		}
	})
	if err != nil {
		return "", fmt.Errorf("the cell did not complete: %w", err)
	}
	if reply.Status != "ok" {
		words := strings.Fields(reply.Ename + ": " + reply.Evalue + " " + stderr.String()) // on one line
		return "", fmt.Errorf("the cell failed: %s", strings.Join(words, " "))
	}
	return stdout.String(), nil
}
