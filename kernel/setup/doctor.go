package setup

import (
	"bytes"
	"context"
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
	for _, p := range tools {
		checks = append(checks, checkTool(l, t, p))
	}
	checks = append(checks, checkGopls(l, t), checkSpec(l, t), checkECharts(l), checkLab(ctx, l))
	for _, c := range backend.Diagnose(ctx, backend.Default) {
		if slices.Contains([]string{"backend", "plugin", "cache"}, c.Name) {
			checks = append(checks, c)
		}
	}
	return append(checks, roundTrip(ctx, l))
}

// checkCompiler looks for the C compiler that cells with XLA need.
func checkCompiler(ctx context.Context, l Layout) backend.Check {
	c := backend.Check{Name: "compiler", Status: backend.OK, Detail: "not needed: built with -tags noxla"}
	if !backend.XLABuilt {
		return c
	}
	cc, err := runGo(ctx, l.Root, "env", "CC")
	if name, _, _ := strings.Cut(strings.TrimSpace(cc), " "); err == nil {
		c.Detail, err = exec.LookPath(name)
	}
	if err != nil {
		c.Status, c.Detail = backend.Fail, err.Error()
		c.Fix = "install a C compiler (on Debian: `apt-get install gcc libc6-dev`)"
	}
	return c
}

func checkTool(l Layout, t toolchain, p tool) backend.Check {
	if problem := t.problem(l, p); problem != "" {
		detail := l.program(p) + ": " + problem
		return backend.Check{Name: p.name, Status: backend.Fail, Detail: detail, Fix: l.command("install")}
	}
	return backend.Check{Name: p.name, Status: backend.OK, Detail: t.wanted[p.module] + " in " + l.program(p)}
}

// checkGopls looks for gopls. It is optional.
func checkGopls(l Layout, t toolchain) backend.Check {
	c := checkTool(l, t, gopls)
	if c.Status == backend.Fail {
		c.Status, c.Detail = backend.Warn, c.Detail+": cells are not completed"
	}
	return c
}

// checkSpec checks that the kernelspec is up to date and that Jupyter finds it before others of the same name.
func checkSpec(l Layout, t toolchain) backend.Check {
	c := backend.Check{Name: "kernelspec", Status: backend.OK, Detail: l.specFile() + " is for this checkout"}
	if problem := specProblem(l, t); problem != "" {
		c.Status, c.Detail, c.Fix = backend.Fail, problem, l.command("install")
		return c
	}
	if l.Prefix != "" {
		c.Detail += "; Jupyter finds it if JUPYTER_PATH contains " + l.Jupyter
		return c
	}
	if found, err := jupyter.Find(KernelName); err == nil && found.Dir != l.specDir() {
		c.Status, c.Detail = backend.Warn, fmt.Sprintf("Jupyter uses %s instead of %s", found.Dir, l.specDir())
		c.Fix = "delete the former, or unset JUPYTER_PATH"
	}
	return c
}

// checkECharts looks for the script of the charts. Without it they need the network.
func checkECharts(l Layout) backend.Check {
	if problem := scriptProblem(l); problem != "" {
		return backend.Check{Name: "echarts", Status: backend.Warn, Detail: problem, Fix: l.command("install")}
	}
	return backend.Check{Name: "echarts", Status: backend.OK, Detail: l.servedScript()}
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

// checkLab looks for JupyterLab. It is optional: `kernel run` and `kernel check` work without it.
func checkLab(ctx context.Context, l Layout) backend.Check {
	lab, err := findLab(ctx, l)
	if err != nil {
		return backend.Check{Name: "jupyterlab", Status: backend.Warn, Detail: err.Error(), Fix: labFix(l)}
	}
	return backend.Check{Name: "jupyterlab", Status: backend.OK, Detail: lab.version + " in " + lab.where}
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
	c := backend.Check{Name: "round trip", Status: backend.Fail, Fix: l.command("install")}
	spec, err := readSpec(l)
	if err != nil {
		c.Detail = "cannot start a kernel: " + err.Error()
		return c
	}
	dir, remove, err := artifact.TempFolder("tvps doctor ") // a folder outside the module
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	defer func() { _ = remove() }()
	var log bytes.Buffer
	begin := time.Now()
	kernel, err := jupyter.Start(ctx, spec, jupyter.Options{Dir: dir, Log: &log})
	if err != nil {
		c.Detail = "the kernel does not start: " + err.Error()
		return c
	}
	started := time.Since(begin)
	defer kernel.Close()
	printed, err := runCell(ctx, kernel, trip)
	if err == nil && !strings.HasPrefix(printed, "figures: ") {
		err = fmt.Errorf("the cell printed %q", printed)
	}
	ran := time.Since(begin) - started
	if closed := kernel.Close(); err == nil {
		err = closed
	}
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	c.Status, c.Detail = backend.OK, fmt.Sprintf("started in %.1f s, ran a cell with this module and GoMLX in %.1f s",
		started.Seconds(), ran.Seconds())
	return c
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
