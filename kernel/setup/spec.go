package setup

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/kernel/jupyter"
)

// logo is shown by JupyterLab's launcher.
//
//go:embed logo.svg
var logo []byte

// kernelspec is the content of kernel.json.
type kernelspec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]any    `json:"metadata"`
}

// writer marks the kernelspecs that this program wrote.
const writer = "tvps kernel install"

// passed lists the environment variables that install copies into the kernelspec. A later change of them does not
// make the kernelspec out of date.
var passed = []string{
	"TVPS_DATA", "TVPS_CACHE", "TVPS_RESULTS", "PJRT_PLUGIN_LIBRARY_PATH", "GOPATH", "GOMODCACHE", "GOCACHE",
}

// newSpec is the kernelspec of an installation.
func newSpec(l Layout, t toolchain) kernelspec {
	env := map[string]string{
		"GOFLAGS":      goFlags(),
		"GOWORK":       "auto", // use gonb's go.work, whatever the user's setting is
		"GOPROXY":      "off",  // otherwise gonb's `go get` uses the network in every cell
		"TVPS_ROOT":    l.Root,
		"TVPS_RESULTS": filepath.Join(l.Root, "results"),
	}
	for _, name := range passed {
		if value := os.Getenv(name); value != "" {
			env[name] = absolute(name, value)
		}
	}
	for name, value := range env {
		env[name] = escape(value)
	}
	path := []string{escape(l.bin()), escape(l.goplsDir()), escape(filepath.Join(t.root, "bin")), "${PATH}"}
	env["PATH"] = strings.Join(path, string(os.PathListSeparator))
	return kernelspec{
		Argv: []string{
			l.program(relay), "{connection_file}", l.program(tools[0]), "--kernel", "{connection_file}", "-go_work=" + l.Root,
		},
		DisplayName:   "Go (tvps)",
		Language:      "go",
		InterruptMode: "message",
		Env:           env,
		Metadata:      map[string]any{"written_by": writer},
	}
}

// absolute makes the value of a TVPS_ variable, which is a folder, independent of the working directory. The other
// variables hold lists or absolute paths: their values stay.
func absolute(name, value string) string {
	if strings.HasPrefix(name, "TVPS_") {
		if abs, err := filepath.Abs(value); err == nil {
			return abs
		}
	}
	return value
}

// escape doubles each $, so that Jupyter does not expand it as a variable.
func escape(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// readSpec reads the installed kernelspec. The error wraps os.ErrNotExist if there is none, and errForeign if
// another program wrote it.
func readSpec(l Layout) (kernelspec, error) {
	text, err := os.ReadFile(l.specFile())
	if err != nil {
		return kernelspec{}, err
	}
	var s kernelspec
	if err := json.Unmarshal(text, &s); err != nil || s.Metadata["written_by"] != writer {
		return kernelspec{}, fmt.Errorf("%s %w: move or delete its folder, then install again",
			l.specFile(), errForeign)
	}
	return s, nil
}

// errForeign marks a kernelspec of another program. Such a file is never overwritten.
var errForeign = fmt.Errorf("was not written by `%s`", writer)

// specProblem says why the installed kernelspec is missing or out of date; empty if it is what install would write.
func specProblem(l Layout, t toolchain) string {
	have, err := readSpec(l)
	if os.IsNotExist(err) {
		return "there is no " + l.specFile()
	}
	if err != nil {
		return err.Error()
	}
	return have.difference(newSpec(l, t))
}

// difference describes the first difference between s and want; empty if there is none.
func (s kernelspec) difference(want kernelspec) string {
	if have := s.Env["TVPS_ROOT"]; have != want.Env["TVPS_ROOT"] {
		return fmt.Sprintf("it is for the checkout %s, and this is %s", have, want.Env["TVPS_ROOT"])
	}
	if !slices.Equal(s.Argv, want.Argv) {
		return fmt.Sprintf("it starts %q instead of %q", s.Argv, want.Argv)
	}
	have, expected := maps.Clone(s.Env), maps.Clone(want.Env)
	for _, name := range passed {
		delete(have, name)
		delete(expected, name)
	}
	names := slices.Concat(slices.Collect(maps.Keys(have)), slices.Collect(maps.Keys(expected)))
	slices.Sort(names)
	for _, name := range names {
		if have[name] != expected[name] {
			return fmt.Sprintf("it sets %s to %q instead of %q", name, have[name], expected[name])
		}
	}
	if s.DisplayName != want.DisplayName || s.InterruptMode != want.InterruptMode || s.Language != want.Language {
		return "its display_name, language or interrupt_mode is out of date"
	}
	return ""
}

// write writes the files of the kernelspec. kernel.json comes last and in one step: Jupyter ignores a folder
// without it. The caller holds the lock.
func (s kernelspec) write(l Layout) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := writeNew(l.logo(), logo); err != nil {
		return err
	}
	return writeFile(l.specFile(), append(text, '\n'))
}

// writeNew is writeFile in a folder that it makes if needed.
func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create the folder of %s: %w", path, err)
	}
	return writeFile(path, text)
}

func writeFile(path string, text []byte) error {
	if err := artifact.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// forStart converts the kernelspec for package jupyter.
func (s kernelspec) forStart(l Layout) jupyter.Spec {
	return jupyter.Spec{
		Name: KernelName, Dir: l.specDir(), Argv: s.Argv, DisplayName: s.DisplayName, Language: s.Language,
		InterruptMode: s.InterruptMode, Env: s.Env, Metadata: s.Metadata,
	}
}
