package setup

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tvps/gomlx_models/backend"
)

// tool is a program that a kernel needs, built from the tool lines of go.mod.
type tool struct {
	name, pkg, module string
}

var tools = []tool{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// toolchain is the Go that compiles the cells, and what go.mod asks for.
type toolchain struct {
	root, version string
	wanted        map[string]string // versions by module path, of the tools
}

// findGo asks the go command on PATH.
func findGo(ctx context.Context, root string) (toolchain, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return toolchain{}, errors.New("the program go is not on PATH: install Go from https://go.dev/dl/")
	}
	text, err := runGo(ctx, root, "env", "-json", "GOROOT", "GOVERSION")
	if err != nil {
		return toolchain{}, err
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return toolchain{}, fmt.Errorf("`go env` printed %q: %w", text, err)
	}
	t := toolchain{root: env.GOROOT, version: env.GOVERSION, wanted: map[string]string{}}
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}"}
	for _, p := range tools {
		args = append(args, p.module)
	}
	if text, err = runGo(ctx, root, args...); err != nil {
		return toolchain{}, err
	}
	for line := range strings.Lines(text) {
		module, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.wanted[module] = version
	}
	return t, nil
}

// runGo runs the go command in the checkout, by itself and with nothing but its go.mod,
// whatever the user's settings are, and returns what it prints.
func runGo(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS="+goFlags(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("`go %s` failed in %s: %w: %s", strings.Join(args, " "), root, err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// goFlags are the flags of every go command of the kernel. Without the symbol table a
// cell links in half the time; stack traces need none.
func goFlags() string {
	flags := "-buildvcs=false -ldflags=-s"
	if !backend.XLABuilt {
		flags += " -tags=noxla"
	}
	return flags
}

// problem says why the program must be built, or "".
func (t toolchain) problem(l Layout, p tool) string {
	info, err := buildinfo.ReadFile(l.program(p))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "it is not there"
	case err != nil:
		return err.Error()
	case info.Path != p.pkg:
		return "it is " + info.Path
	}
	if have, want := moduleVersion(info, p.module), t.wanted[p.module]; have != want {
		return fmt.Sprintf("it is version %s, and go.mod says %s", have, want)
	}
	if info.GoVersion != t.version {
		return fmt.Sprintf("it was built by %s, and go is %s now", info.GoVersion, t.version)
	}
	return ""
}

// moduleVersion is the version of the module that a program was built from.
func moduleVersion(info *buildinfo.BuildInfo, module string) string {
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}

// buildTools builds all tools into dir.
func buildTools(ctx context.Context, root, dir string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, p := range tools {
		args = append(args, p.pkg)
	}
	_, err := runGo(ctx, root, args...)
	return err
}

// compiled are the packages that cells import: compiled once, the first cell is quick.
var compiled = []string{"./replicate/paper", "./replicate/cells", "./gomlx_models/...", "github.com/janpfeifer/gonb/gonbui"}

// compile fetches the modules that cells may need and compiles the packages.
func compile(ctx context.Context, root string) error {
	if _, err := runGo(ctx, root, "mod", "download"); err != nil {
		return err
	}
	_, err := runGo(ctx, root, append([]string{"build"}, compiled...)...)
	return err
}

// replaceTools builds the tools beside bin and moves them into it one by one: at each
// moment there is a whole program or none under each name. What an earlier call left
// when it was killed goes. The caller holds the lock.
func replaceTools(ctx context.Context, l Layout, build func(ctx context.Context, root, dir string) error) error {
	if err := os.MkdirAll(l.bin(), 0o755); err != nil {
		return fmt.Errorf("no folder for the programs: %w", err)
	}
	tmp := filepath.Join(l.Data, ".build")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return err
	}
	if err := build(ctx, l.Root, tmp); err != nil {
		return err
	}
	for _, p := range tools {
		from := filepath.Join(tmp, p.name)
		if runtime.GOOS == "windows" {
			return errors.New("gonb does not run on Windows: use its Linux (WSL)")
		}
		if err := os.Rename(from, l.program(p)); err != nil {
			return fmt.Errorf("the program %s was built but cannot be put in place: %w", p.name, err)
		}
	}
	return nil
}
