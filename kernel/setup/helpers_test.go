package setup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// checkout is the folder of this checkout.
func checkout(t testing.TB) string {
	t.Helper()
	root, err := FindRoot()
	demand.NoError(t, err)
	return root
}

// tempLayout is a layout below a new folder whose path contains a space.
func tempLayout(t testing.TB) Layout {
	t.Helper()
	l, err := NewLayout(checkout(t), filepath.Join(t.TempDir(), "a prefix"))
	demand.NoError(t, err)
	for _, name := range inherited {
		t.Setenv(name, "")
	}
	return l
}

// fakeParts returns parts that need neither a compiler nor a network.
func fakeParts() *parts {
	return &parts{
		first: func(context.Context, Layout) error { return nil },
		install: func(_ context.Context, p programs) error {
			err := os.MkdirAll(p.bin, 0o755)
			for _, pkg := range p.packages {
				err = errors.Join(err, os.WriteFile(filepath.Join(p.bin, path.Base(pkg)), []byte("a program"), 0o755))
			}
			return err
		},
		compile: func(context.Context, string) error { return nil },
		plugin:  func(context.Context, io.Writer) error { return nil },
	}
}

// install installs with these parts and returns the printed and logged text.
func install(t testing.TB, l Layout, p *parts) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Install(t.Context(), l, InstallOptions{Out: &out, Log: &out, parts: p})
	return out.String(), err
}

// fakeInstallation returns the layout of an installation with the parts of fakeParts.
func fakeInstallation(t *testing.T) Layout {
	t.Helper()
	l := tempLayout(t)
	_, err := install(t, l, fakeParts())
	demand.NoError(t, err)
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
	demand.NoError(t, err)
	slices.Sort(list)
	return list
}

// script writes a program.
func script(t *testing.T, path, text string) {
	t.Helper()
	demand.Write(t, path, text)
	demand.NoError(t, os.Chmod(path, 0o755))
}

// onlyOnPath sets PATH to the folder, that of go, and one with the system programs that tests need.
func onlyOnPath(t *testing.T, dir string) {
	t.Helper()
	goRoot, err := findGo(t.Context(), checkout(t))
	demand.NoError(t, err)
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
