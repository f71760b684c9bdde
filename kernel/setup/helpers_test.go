package setup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/data/echarts"
)

// here is this checkout.
func here(t *testing.T) string {
	t.Helper()
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// somewhere is a layout below a new folder with a space in its path.
func somewhere(t *testing.T) Layout {
	t.Helper()
	l, err := NewLayout(here(t), filepath.Join(t.TempDir(), "a prefix"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range passed {
		t.Setenv(name, "")
	}
	return l
}

// quick is an installation without a compiler and without a network. It counts builds.
func quick(builds *int) *parts {
	return &parts{
		build: func(_ context.Context, _, dir string) error {
			*builds++
			for _, p := range tools {
				if err := os.WriteFile(filepath.Join(dir, p.name), []byte("a program"), 0o755); err != nil {
					return err
				}
			}
			return nil
		},
		current: func(_ toolchain, l Layout, p tool) string {
			if _, err := os.Stat(l.program(p)); err != nil {
				return "it is not there"
			}
			return ""
		},
		compile: func(context.Context, string) error { return nil },
		echarts: func(_ context.Context, dst string, o echarts.Options) error {
			return echarts.Write(dst, []byte(`t.version="5.6.0"`))
		},
		plugin: func(context.Context, io.Writer) error { return nil },
	}
}

// install installs with these parts and returns what it printed and logged.
func install(t *testing.T, l Layout, p *parts) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Install(t.Context(), l, InstallOptions{Out: &out, Log: &out, parts: p})
	return out.String(), err
}

// installedQuickly installs what quick makes.
func installedQuickly(t *testing.T) Layout {
	t.Helper()
	l, builds := somewhere(t), 0
	if _, err := install(t, l, quick(&builds)); err != nil {
		t.Fatal(err)
	}
	return l
}

// tree lists the files and folders below dir, without the lock.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if name, _ := filepath.Rel(dir, path); name != "." && filepath.Base(name) != ".lock" {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// put writes a file and its folder.
func put(t *testing.T, path, text string, perm fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantError checks that err has the words and is one line.
func wantError(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want one line with %q", err, words)
	}
}

// onlyOnPath makes the folder the only one on PATH, but for that of go and the system's.
func onlyOnPath(t *testing.T, dir string) {
	t.Helper()
	goRoot, err := findGo(t.Context(), here(t))
	if err != nil {
		t.Fatal(err)
	}
	system := t.TempDir() // sh and sleep, but no jupyter-lab and no python3
	for _, name := range []string{"sh", "sleep", "mkdir", "cp", "cat"} {
		for _, bin := range []string{"/bin", "/usr/bin"} {
			if _, err := os.Stat(filepath.Join(bin, name)); err == nil {
				os.Symlink(filepath.Join(bin, name), filepath.Join(system, name))
			}
		}
	}
	t.Setenv("PATH", strings.Join([]string{dir, filepath.Join(goRoot.root, "bin"), system}, string(os.PathListSeparator)))
}
