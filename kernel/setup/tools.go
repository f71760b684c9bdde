package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/kernel/nbformat"
)

// Packages of programs that the kernel needs, apart from goimports.
const (
	gonb    = "github.com/janpfeifer/gonb"
	relay   = "tvps/kernel/tvps-kernel"               // the program of the kernelspec: it starts gonb
	program = "tvps/replicate/notebook/tvps-notebook" // computes and draws for the cells: see package replicate/notebook
)

// programs are packages of one module of the checkout, in the versions of its go.mod, that are installed into a folder.
type programs struct {
	module, bin string // folders
	packages    []string
}

// programs are those without which no cell runs.
func (l Layout) programs() programs {
	return programs{l.Root, l.bin(), []string{gonb, "golang.org/x/tools/cmd/goimports", relay, program}}
}

// gopls completes and explains code in cells. It has a module of its own (see gopls/go.mod), so that its dependencies
// are not those of this module.
func (l Layout) gopls() programs {
	module := filepath.Join(l.Root, "kernel", "setup", "gopls")
	return programs{module, l.goplsDir(), []string{"golang.org/x/tools/gopls"}}
}

// installPrograms builds the programs that are not up to date. It also lists the sources of program.
func installPrograms(ctx context.Context, p programs) error {
	if _, err := p.run(ctx, "install"); err != nil || !slices.Contains(p.packages, program) {
		return err
	}
	list, err := sourcesOf(ctx, p.module, program)
	if err != nil {
		return err
	}
	return nbformat.WriteFile(filepath.Join(p.bin, path.Base(program)+artifact.SourcesSuffix), []byte(list))
}

// stale says why a program must be installed; empty if all are up to date.
func (p programs) stale(ctx context.Context) string {
	reasons, err := p.run(ctx, "list", "-f", `{{if .Stale}}{{.ImportPath}}: {{.StaleReason}}{{end}}`)
	if err != nil {
		return err.Error()
	}
	first, _, _ := strings.Cut(strings.TrimSpace(reasons), "\n")
	return first
}

// run runs the go command for the packages.
func (p programs) run(ctx context.Context, args ...string) (string, error) {
	return runGo(ctx, p.module, []string{"GOBIN=" + p.bin}, append(args, p.packages...)...)
}

// toolchain is the Go installation that compiles the cells.
type toolchain struct {
	root                   string
	modules, compiledCache string // GOMODCACHE and GOCACHE
}

func findGo(ctx context.Context, root string) (toolchain, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return toolchain{}, errors.New("the program go is not on PATH: install Go from https://go.dev/dl/")
	}
	text, err := runGo(ctx, root, nil, "env", "-json", "GOROOT", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return toolchain{}, err
	}
	var env struct{ GOROOT, GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return toolchain{}, fmt.Errorf("`go env` printed %q: %w", text, err)
	}
	return toolchain{env.GOROOT, env.GOMODCACHE, env.GOCACHE}, nil
}

// runGo runs the go command in a folder, with further variables, and returns its stdout. It sets GOFLAGS and turns
// workspaces off, so the user's settings of these do not matter.
func runGo(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	cmd := interruptible(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS="+goFlags(), "GOWORK=off")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return "", fmt.Errorf("`go %s` failed in %s: %w: %s", strings.Join(args, " "), folder, err, text)
	}
	return string(out), nil
}

// interruptible is a command that gets an interrupt at the end of ctx, and 5 seconds.
func interruptible(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// goFlags returns the flags of every go command of the kernel. -ldflags=-s omits the symbol table: a cell links in
// half the time, and stack traces do not need it.
func goFlags() string {
	flags := "-buildvcs=false -ldflags=-s"
	if !backend.XLABuilt {
		flags += " -tags=noxla"
	}
	return flags
}

// sourcesOf lists the sources of a program of this module, and its versions of other modules.
func sourcesOf(ctx context.Context, root, pkg string) (string, error) {
	const format = `{{$dir := .Dir}}{{if and .Module .Module.Main}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .CgoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}`
	text, err := runGo(ctx, root, nil, "list", "-deps", "-f", format, pkg)
	if err != nil {
		return "", err
	}
	files := []string{"go.mod", "go.sum"}
	for path := range strings.Lines(text) {
		if path = strings.TrimSpace(path); path == "" {
			continue
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return "", err
		}
		files = append(files, file)
	}
	return artifact.Sources(root, files)
}

// compiled lists the packages that cells import. They are compiled during installation, so the first cell is fast.
var compiled = []string{
	"./replicate/notebook/...", "./replicate/tables", "./ci/research/natural", "./data/table/examples", "./gomlx_models/...",
	"github.com/janpfeifer/gonb/gonbui",
}

// compile downloads the modules of go.mod and compiles the packages that cells import.
func compile(ctx context.Context, root string) error {
	if _, err := runGo(ctx, root, nil, "mod", "download"); err != nil {
		return err
	}
	_, err := runGo(ctx, root, nil, append([]string{"build"}, compiled...)...)
	return err
}
