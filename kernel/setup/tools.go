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
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
)

// tool is a program that the kernel needs. Its version is in the tool lines of go.mod.
type tool struct {
	name, pkg, module string
}

var tools = []tool{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
	relay, program,
}

// relay is the program of the kernelspec: it starts gonb. It belongs to this module, which has no version, so each
// installation builds it.
var relay = tool{"tvps-kernel", "tvps/kernel/tvps-kernel", "tvps"}

// program computes and draws for the cells: see package replicate/notebook. It is built again if its sources have
// changed.
var program = tool{"tvps-notebook", "tvps/replicate/notebook/tvps-notebook", "tvps"}

// gopls completes and explains code in cells. It is a module of its own (see gopls/go.mod), so that its dependencies
// are not those of this module.
var gopls = tool{"gopls", "golang.org/x/tools/gopls", "golang.org/x/tools/gopls"}

// goplsModule is the folder of the module that pins gopls, in the checkout.
const goplsModule = "kernel/setup/gopls"

// toolchain is the Go installation that compiles the cells, with the tool versions of go.mod.
type toolchain struct {
	root, version          string
	modules, compiledCache string            // GOMODCACHE and GOCACHE
	wanted                 map[string]string // versions of the tools, by module path
}

func findGo(ctx context.Context, root string) (toolchain, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return toolchain{}, errors.New("the program go is not on PATH: install Go from https://go.dev/dl/")
	}
	text, err := runGo(ctx, root, "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return toolchain{}, err
	}
	var env struct{ GOROOT, GOVERSION, GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return toolchain{}, fmt.Errorf("`go env` printed %q: %w", text, err)
	}
	t := toolchain{env.GOROOT, env.GOVERSION, env.GOMODCACHE, env.GOCACHE, map[string]string{}}
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
	t.wanted[gopls.module], err = pinnedGopls(root)
	return t, err
}

// pinnedGopls returns the version of gopls that the checkout root pins.
func pinnedGopls(root string) (string, error) {
	path := filepath.Join(root, goplsModule, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	_, line, found := strings.Cut(string(text), gopls.module+" v")
	if !found {
		return "", fmt.Errorf("%s does not require %s", path, gopls.module)
	}
	return "v" + strings.Fields(line)[0], nil
}

// runGo runs the go command in the checkout and returns its stdout. It sets GOFLAGS and turns workspaces off,
// so the user's settings of these do not matter.
func runGo(ctx context.Context, root string, args ...string) (string, error) {
	cmd := interruptible(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS="+goFlags(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return "", fmt.Errorf("`go %s` failed in %s: %w: %s", strings.Join(args, " "), root, err, text)
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

// problem says why the program must be built; empty if it is up to date.
func (t toolchain) problem(l Layout, p tool) string {
	info, err := buildinfo.ReadFile(l.program(p))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "it does not exist"
	case err != nil:
		return err.Error()
	case info.Path != p.pkg:
		return "it is another program, " + info.Path
	}
	if have, want := moduleVersion(info, p.module), t.wanted[p.module]; have != want && want != "" {
		return fmt.Sprintf("it has version %s, but go.mod requires %s", have, want)
	}
	if info.GoVersion != t.version {
		return fmt.Sprintf("it was built by %s, but go is now %s", info.GoVersion, t.version)
	}
	if p == program {
		changed, err := artifact.Changed(l.sources(), l.Root)
		if err != nil {
			return err.Error()
		}
		if changed != "" {
			return changed + " has changed"
		}
	}
	return ""
}

func moduleVersion(info *buildinfo.BuildInfo, module string) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}

// buildTools builds tools of one module, whose folder is given, into dir, and lists the sources of program.
func buildTools(ctx context.Context, folder, dir string, tools []tool) error {
	if slices.Contains(tools, program) {
		list, err := sourcesOf(ctx, folder, program)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, program.name+artifact.SourcesSuffix), []byte(list), 0o644)
		}
		if err != nil {
			return err
		}
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, p := range tools {
		args = append(args, p.pkg)
	}
	_, err := runGo(ctx, folder, args...)
	return err
}

// sourcesOf lists the sources of a tool of this module, and its versions of other modules.
func sourcesOf(ctx context.Context, root string, p tool) (string, error) {
	const format = `{{$dir := .Dir}}{{if and .Module .Module.Main}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .CgoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}`
	text, err := runGo(ctx, root, "list", "-deps", "-f", format, p.pkg)
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
	if _, err := runGo(ctx, root, "mod", "download"); err != nil {
		return err
	}
	_, err := runGo(ctx, root, append([]string{"build"}, compiled...)...)
	return err
}

// replaceTools builds tools of one module and one folder in a temporary folder and renames them into place one by one,
// so no program is ever partly written. It first removes the temporary folder of an earlier, killed call. The caller
// holds the lock.
func replaceTools(ctx context.Context, l Layout, build buildFunc, folder string, tools []tool) error {
	for _, p := range tools {
		if err := os.MkdirAll(filepath.Dir(l.program(p)), 0o755); err != nil {
			return fmt.Errorf("cannot create the folder of the programs: %w", err)
		}
	}
	tmp := filepath.Join(l.Data, ".build")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return err
	}
	if err := build(ctx, folder, tmp, tools); err != nil {
		return err
	}
	built, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, file := range built {
		to := filepath.Join(filepath.Dir(l.program(tools[0])), file.Name())
		if err := os.Rename(filepath.Join(tmp, file.Name()), to); err != nil {
			return fmt.Errorf("cannot move the new program %s into place: %w", file.Name(), err)
		}
	}
	return nil
}
