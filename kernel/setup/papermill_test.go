package setup

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The package is installed where papermill is, with the Python of that program, and again only after a change.
func TestInstallPapermill(t *testing.T) {
	l, dir := tempLayout(t), filepath.Join(t.TempDir(), "some bin")
	t.Setenv("PATH", dir)
	var log strings.Builder
	if err := installPapermill(t.Context(), l, &log); err != nil || log.String() != "" {
		t.Errorf("without papermill: %v, %q", err, log.String())
	}
	python, installed := filepath.Join(dir, "python3.11"), filepath.Join(dir, "tvps_papermill.py")
	put(t, filepath.Join(dir, "papermill"), "#!"+python+"\nimport papermill", 0o755)
	put(t, python, `#!/bin/sh
if [ "$1" = -c ]; then echo "`+installed+`"; else echo "called with $*"; echo "$*" >>"`+filepath.Join(dir, "calls")+`"; fi
`, 0o755)
	if err := os.MkdirAll(l.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := installPapermill(t.Context(), l, &log); err != nil ||
		!strings.Contains(log.String(), "called with -m pip install") ||
		!strings.Contains(log.String(), filepath.Join(l.Root, "kernel", "papermill")+"\n") {
		t.Errorf("with papermill: %v, %q", err, log.String())
	}
	text, err := os.ReadFile(filepath.Join(l.Root, "kernel", "papermill", "tvps_papermill.py"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, installed, string(text), 0o644)
	log.Reset()
	if err := installPapermill(t.Context(), l, &log); err != nil || log.String() != "" {
		t.Errorf("up to date: %v, %q", err, log.String())
	}
	log.Reset()
	if err := Uninstall(t.Context(), l, false, &log); err != nil ||
		!strings.Contains(log.String(), "removed the translator of Go notebooks of "+python+"\n") ||
		!strings.Contains(read(t, filepath.Join(dir, "calls")), "\n-m pip uninstall --yes") {
		t.Errorf("uninstalled: %v, %q", err, log.String())
	}
	if got := l.papermillPythons(); len(got) > 0 {
		t.Errorf("after uninstall, %q have the package", got)
	}
	put(t, installed, "an older one", 0o644)
	put(t, python, "#!/bin/sh\nexit 1\n", 0o755)
	wantError(t, installPapermill(t.Context(), l, &log), "python -m pip install ./kernel/papermill")
}

// The list of interpreters is replaced in one step. Uninstall also removes what a killed process left of it.
func TestPapermillList(t *testing.T) {
	l, dir := tempLayout(t), filepath.Join(t.TempDir(), "some bin")
	t.Setenv("PATH", dir)
	python := filepath.Join(dir, "python3")
	put(t, filepath.Join(dir, "papermill"), "#!"+python, 0o755)
	put(t, python, "#!/bin/sh\n[ \"$1\" != -c ]\n", 0o755)
	put(t, l.papermillList(), "/earlier/python3\n", 0o644)
	before := filepath.Join(t.TempDir(), "before") // the file that a list written in place would change
	if err := os.Link(l.papermillList(), before); err != nil {
		t.Fatal(err)
	}
	if err := installPapermill(t.Context(), l, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, l.papermillList()), "/earlier/python3\n"+python+"\n"; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
	if got := read(t, before); got != "/earlier/python3\n" {
		t.Errorf("the list was written in place: the earlier file is %q", got)
	}
	put(t, l.papermillList()+".tmp", "/earl", 0o644)
	if err := Uninstall(t.Context(), l, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, l.Data); len(left) > 0 {
		t.Errorf("uninstall left %q", left)
	}
}

func TestPythonOf(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"#!/a b/bin/python3\nx": "/a b/bin/python3", "#!/bin/bash\n": filepath.Join(dir, "python3"), "": filepath.Join(dir, "python3"),
	} {
		put(t, filepath.Join(dir, "papermill"), text, 0o755)
		if got := pythonOf(filepath.Join(dir, "papermill")); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
