package setup

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// An installation writes the kernelspec and the programs. Another one changes no file.
func TestInstall(t *testing.T) {
	l := tempLayout(t)
	t.Setenv("TVPS_DATA", "/data/$HOME cifar")
	cache := filepath.Join(t.TempDir(), "cache")
	t.Setenv("XDG_CACHE_HOME", cache)
	for _, name := range []string{"TVPS_CACHE", "GOPATH", "GOMODCACHE", "GOCACHE"} { // each of these has a default
		if value := os.Getenv(name); value != "" {
			t.Setenv(name, "")
		}
	}
	out, err := install(t, l, fakeParts())
	demand.NoError(t, err)
	demand.Words(t, out, l.specDir())
	var got map[string]any
	demand.NoError(t, json.Unmarshal(demand.Read(t, l.specFile()), &got))
	toolchain, err := findGo(t.Context(), l.Root)
	demand.NoError(t, err)
	modules, err := runGo(t.Context(), l.Root, nil, "env", "GOMODCACHE")
	demand.NoError(t, err)
	bin := filepath.Join(l.Prefix, "share", "tvps", "kernel", "bin")
	gopls := filepath.Join(l.Prefix, "share", "tvps", "kernel", "gopls")
	want := map[string]any{
		"argv": []any{filepath.Join(bin, "tvps-kernel"), "{connection_file}",
			filepath.Join(bin, "gonb"), "--kernel", "{connection_file}", "-go_work=" + l.Root, "--raw_error"},
		"display_name":   "Go (tvps)",
		"language":       "go",
		"interrupt_mode": "message",
		"env": map[string]any{
			"PATH":         bin + ":" + gopls + ":" + filepath.Join(toolchain.root, "bin") + ":${PATH}",
			"GOFLAGS":      goFlags(),
			"GOWORK":       "auto",
			"GOPROXY":      "off",
			"GOSUMDB":      "off",
			"TVPS_ROOT":    l.Root,
			"TVPS_RESULTS": filepath.Join(l.Root, "results"),
			"TVPS_DATA":    "/data/$$HOME cifar",
			"TVPS_CACHE":   filepath.Join(cache, "tvps"),
			"GOMODCACHE":   strings.TrimSpace(modules),
		},
	}
	demand.Diff(t, got, want, "kernel.json")
	files := []string{
		"jupyter", "jupyter/kernels", "jupyter/kernels/tvps", "jupyter/kernels/tvps/kernel.json",
		"jupyter/kernels/tvps/logo-svg.svg",
		"jupyter/labextensions", "jupyter/labextensions/tvps", "jupyter/labextensions/tvps/static",
		"jupyter/labextensions/tvps/static/echarts.min.js",
		"tvps", "tvps/kernel", "tvps/kernel/bin", "tvps/kernel/bin/go", "tvps/kernel/bin/goimports", "tvps/kernel/bin/gonb",
		"tvps/kernel/bin/tvps-kernel", "tvps/kernel/bin/tvps-notebook", "tvps/kernel/gopls", "tvps/kernel/gopls/gopls",
	}
	if got := tree(t, filepath.Join(l.Prefix, "share")); !slices.Equal(got, files) {
		t.Errorf("it wrote %q,\nwant %q", got, files)
	}
	before := demand.Files(t, l.Prefix)
	_, err = install(t, l, fakeParts())
	demand.NoError(t, err)
	demand.Diff(t, demand.Files(t, l.Prefix), before, "the files after the second installation")
}

// After a failure of any part there must be no kernel, or the previous one, and the next call must complete the
// installation.
func TestInstallFailure(t *testing.T) {
	broken := errors.New("failed part")
	for name, breakIt := range map[string]func(*parts){
		"install": func(p *parts) { p.install = func(context.Context, programs) error { return broken } },
		"compile": func(p *parts) { p.compile = func(context.Context, string) error { return broken } },
	} {
		l, p := tempLayout(t), fakeParts()
		breakIt(p)
		if _, err := install(t, l, p); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := os.Stat(l.specFile()); err == nil {
			t.Errorf("%s: a kernel was installed although a part failed", name)
		}
		if _, err := install(t, l, fakeParts()); err != nil {
			t.Errorf("%s: the next call: %v", name, err)
		}
		before := string(demand.Read(t, l.specFile()))
		if _, err := install(t, l, p); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
		demand.Equal(t, string(demand.Read(t, l.specFile())), before, "%s: the old kernelspec is now", name)
	}
}

func TestInstallCancelled(t *testing.T) {
	l := tempLayout(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := fakeParts()
	p.plugin = func(ctx context.Context, _ io.Writer) error { cancel(); return ctx.Err() }
	err := Install(ctx, l, InstallOptions{Out: io.Discard, Log: io.Discard, parts: p})
	if _, missing := os.Stat(l.specFile()); !errors.Is(err, context.Canceled) || missing == nil {
		t.Errorf("got error %v, kernelspec: %v", err, missing)
	}
}

func TestLayout(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/home/me/data")
	t.Setenv("JUPYTER_DATA_DIR", "/home/me/jupyter")
	l, err := NewLayout("/src", "")
	if err != nil || l.Data != "/home/me/data/tvps/kernel" || l.Jupyter != "/home/me/jupyter" {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestFindRoot(t *testing.T) {
	root := checkout(t)
	t.Setenv("TVPS_ROOT", "")
	other := t.TempDir()
	demand.Write(t, filepath.Join(other, "go.mod"), "module other\n")
	t.Chdir(other)
	_, err := FindRoot()
	demand.Error(t, err, "set TVPS_ROOT")
	t.Setenv("TVPS_ROOT", root)
	if got, err := FindRoot(); got != root || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// The first installation says what it takes; a plugin that is missing is a warning. After a cell that fails the kernel
// stays.
func TestInstallSteps(t *testing.T) {
	l, p := tempLayout(t), fakeParts()
	p.plugin = func(context.Context, io.Writer) error { return errors.New("no plugin") }
	p.first = func(_ context.Context, l Layout) error {
		if _, err := os.Stat(l.specFile()); err != nil {
			t.Errorf("the first cell runs before the kernel is installed: %v", err)
		}
		return errors.New("no compiler")
	}
	for i, first := range []bool{true, false} {
		out, err := install(t, l, p)
		demand.Error(t, err, "a first cell fails: no compiler")
		if strings.Contains(out, firstTime) != first || !strings.Contains(out, "warning: no plugin\n") {
			t.Errorf("installation %d says %q", i+1, out)
		}
	}
}
