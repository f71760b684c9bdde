package setup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/kernel/jupyter"
)

// rewrite changes the installed kernelspec.
func rewrite(t *testing.T, l Layout, change func(*jupyter.Spec)) {
	t.Helper()
	s, err := readSpec(l)
	if err != nil {
		t.Fatal(err)
	}
	change(&s)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	demand.Write(t, l.specFile(), string(text))
}

func TestSpecProblem(t *testing.T) {
	l := fakeInstallation(t)
	chain, err := findGo(t.Context(), l.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got := specProblem(l, chain); got != "" {
		t.Errorf("a new kernelspec: %q", got)
	}
	t.Setenv("TVPS_DATA", "/elsewhere") // copied into the kernelspec, but never a reason to install again
	if got := specProblem(l, chain); got != "" {
		t.Errorf("with TVPS_DATA: %q", got)
	}
	whole := string(demand.Read(t, l.specFile()))
	for _, c := range []struct {
		want   string
		change func(*jupyter.Spec)
	}{
		{"it is for the checkout /old", func(s *jupyter.Spec) { s.Env["TVPS_ROOT"] = "/old" }},
		{"it is out of date", func(s *jupyter.Spec) { s.Argv = []string{"/old/gonb"} }},
		{"it is out of date", func(s *jupyter.Spec) { s.Env["PATH"] = "/go1.20/bin" }},
		{"it is out of date", func(s *jupyter.Spec) { delete(s.Env, "GOPROXY") }},
		{"was not written by", func(s *jupyter.Spec) { s.Metadata = nil }},
	} {
		demand.Write(t, l.specFile(), whole)
		rewrite(t, l, c.change)
		if got := specProblem(l, chain); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if c := checkSpec(l, chain); c.Status != backend.Fail || !strings.Contains(c.Fix, "kernel install --prefix") {
			t.Errorf("doctor says %+v", c)
		}
	}
	os.Remove(l.specFile())
	if got := specProblem(l, chain); !strings.HasPrefix(got, "there is no "+l.specFile()) {
		t.Errorf("without a kernelspec: %q", got)
	}
}

// Jupyter uses the first kernel of a name on its search path.
func TestShadowedKernel(t *testing.T) {
	other := t.TempDir()
	demand.Write(t, filepath.Join(other, "kernels", "tvps", "kernel.json"), `{"argv":["x"]}`)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir())
	l, err := NewLayout(checkout(t), "")
	if err != nil {
		t.Fatal(err)
	}
	builds := 0
	if _, err := install(t, l, fakeParts(&builds)); err != nil {
		t.Fatal(err)
	}
	chain, err := findGo(t.Context(), l.Root)
	if err != nil {
		t.Fatal(err)
	}
	if c := checkSpec(l, chain); c.Status != backend.OK {
		t.Errorf("alone: %+v", c)
	}
	t.Setenv("JUPYTER_PATH", other)
	if c := checkSpec(l, chain); c.Status != backend.Warn || !strings.Contains(c.Detail, other) {
		t.Errorf("after another on the search path: %+v", c)
	}
}

func TestCheckECharts(t *testing.T) {
	l := fakeInstallation(t)
	if c := checkECharts(l); c.Status != backend.OK {
		t.Errorf("after an installation: %+v", c)
	}
	demand.Write(t, l.servedScript(), "")
	if c := checkECharts(l); c.Status != backend.Warn || !strings.Contains(c.Detail, "is out of date") {
		t.Errorf("another script: %+v", c)
	}
	os.Remove(l.servedScript())
	if c := checkECharts(l); c.Status != backend.Warn || !strings.Contains(c.Fix, "kernel install") {
		t.Errorf("no script: %+v", c)
	}
}

func TestRoundTripFailures(t *testing.T) {
	l := tempLayout(t)
	if c := roundTrip(t.Context(), l); c.Status != backend.Fail || !strings.Contains(c.Detail, "cannot start a kernel") {
		t.Errorf("nothing installed: %+v", c)
	}
	l = fakeInstallation(t)
	rewrite(t, l, func(s *jupyter.Spec) { s.Argv = []string{"/bin/sh", "-c", "echo no luck >&2; exit 3"} })
	if c := roundTrip(t.Context(), l); c.Status != backend.Fail ||
		!strings.Contains(c.Detail, "the kernel does not start") ||
		!strings.Contains(c.Detail, "no luck") {
		t.Errorf("a kernel that dies: %+v", c)
	}
}

// cell imports a package of this module and one of GoMLX's modules. Both are small.
const cell = `import (
	"github.com/gomlx/compute/dtypes"
	"tvps/data/random"
)

%%
_ = random.New
fmt.Println(dtypes.Float32, os.Getenv("TVPS_ROOT"))
`

// realKernel installs the kernel without gopls, which takes a minute to build; TestInstalledKernel uses it.
func realKernel(t testing.TB) (Layout, error) {
	goFolders := map[string]string{} // which tempLayout clears: the modules are there
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE"} {
		goFolders[name] = os.Getenv(name)
	}
	l, builds := tempLayout(t), 0
	for name, value := range goFolders {
		t.Setenv(name, value)
	}
	p := fakeParts(&builds)
	p.current = toolchain.problem
	p.compile = func(ctx context.Context, root string) error { // GoNB reads the go.mod of modules that `go test` leaves out
		_, err := runGo(ctx, root, "mod", "graph")
		return err
	}
	p.build = func(ctx context.Context, folder, dir string, tools []tool) error {
		if tools[0] == gopls {
			return errors.New("not built in this test")
		}
		return buildTools(ctx, folder, dir, tools)
	}
	_, err := install(t, l, p)
	return l, err
}

// TestRealKernel builds the programs and runs a cell in a folder outside the module. Proxies that do not exist make
// every use of the network fail.
func TestRealKernel(t *testing.T) {
	if os.Getenv("TVPS_NIGHTLY") != "1" {
		t.Skip("builds gonb and starts it: set TVPS_NIGHTLY=1")
	}
	l, err := realKernel(t)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := findGo(t.Context(), l.Root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if c := checkTool(l, chain, tool); c.Status != backend.OK {
			t.Errorf("%+v", c)
		}
	}
	chain.wanted[tools[0].module] = "v9.9.9"
	if c := checkTool(l, chain, tools[0]); c.Status != backend.Fail || !strings.Contains(c.Detail, "go.mod requires v9.9.9") {
		t.Errorf("another version in go.mod: %+v", c)
	}
	spec, err := readSpec(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	dir := filepath.Join(t.TempDir(), "some folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	kernel, err := jupyter.Start(t.Context(), spec, jupyter.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Close()
	if got, err := runCell(t.Context(), kernel, cell); got != "Float32 "+l.Root+"\n" || err != nil {
		t.Errorf("the cell printed %q, %v", got, err)
	}
	_, err = runCell(t.Context(), kernel, "%%\npanic(\"on purpose\")")
	demand.Error(t, err, "on purpose")
}
