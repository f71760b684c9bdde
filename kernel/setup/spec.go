package setup

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"tvps/data/artifact"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// logo is shown by JupyterLab's launcher.
//
//go:embed logo.svg
var logo []byte

// inherited lists the environment variables that install copies into the kernelspec, or sets to their defaults. A later
// change of them does not make the kernelspec out of date.
var inherited = []string{
	"TVPS_DATA", "TVPS_CACHE", "TVPS_RESULTS", "PJRT_PLUGIN_LIBRARY_PATH", "GOPATH", "GOMODCACHE", "GOCACHE",
}

func newSpec(l Layout, t toolchain) jupyter.Spec {
	env := map[string]string{
		"GOFLAGS":      goFlags(),
		"GOWORK":       "auto", // use gonb's go.work, whatever the user's setting is
		"GOPROXY":      "off",  // otherwise gonb's `go get` uses the network in every cell
		"GOSUMDB":      "off",  // and for sums, where a user's go.work is without this checkout
		"TVPS_ROOT":    l.Root,
		"TVPS_RESULTS": filepath.Join(l.Root, "results"),
	}
	// Some starters of kernels have no HOME, from which the folders follow otherwise. The users of a --prefix share the
	// modules and what this project loads, but not Go's build cache: each writes into one of his own.
	folders := map[string]string{"GOMODCACHE": t.modules}
	folders["TVPS_CACHE"], _ = artifact.CacheDir() // installing needs it, and says so
	if l.Prefix == "" {
		folders["GOCACHE"] = t.compiledCache
	}
	for _, name := range inherited {
		value := cmp.Or(os.Getenv(name), folders[name])
		if abs, err := filepath.Abs(value); value != "" && err == nil && strings.HasPrefix(name, "TVPS_") {
			value = abs // a folder; the other variables hold lists or absolute paths
		}
		if value != "" {
			env[name] = value
		}
	}
	for name, value := range env {
		env[name] = escape(value)
	}
	path := []string{escape(l.bin()), escape(l.goplsDir()), escape(filepath.Join(t.root, "bin")), "${PATH}"}
	env["PATH"] = strings.Join(path, string(os.PathListSeparator))
	return jupyter.Spec{
		Name: kernelName, Dir: l.specDir(),
		Argv: []string{
			l.program(relay), "{connection_file}", l.program(gonb), "--kernel", "{connection_file}", "-go_work=" + l.Root,
			"--raw_error", // compile errors as text: HTML reaches no console, nbclient or papermill
		},
		DisplayName:   "Go (tvps)",
		Language:      "go",
		InterruptMode: "message",
		Env:           env,
	}
}

// escape doubles each $, so that Jupyter does not expand it as a variable.
func escape(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// specProblem says why the installed kernelspec is missing or out of date; empty if it is what install would write.
func specProblem(l Layout, t toolchain) string {
	have, err := jupyter.Read(kernelName, l.specDir())
	if err != nil {
		return err.Error()
	}
	want := newSpec(l, t)
	if root := have.Env["TVPS_ROOT"]; root != want.Env["TVPS_ROOT"] {
		return fmt.Sprintf("it is for the checkout %s, and this is %s", root, want.Env["TVPS_ROOT"])
	}
	for _, name := range inherited {
		delete(have.Env, name)
		delete(want.Env, name)
	}
	if !reflect.DeepEqual(have, want) {
		return "it is out of date"
	}
	return ""
}

// write writes the files of a kernelspec. kernel.json comes last and in one step: Jupyter ignores a folder
// without it. The caller holds the lock.
func write(s jupyter.Spec, l Layout) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := nbformat.WriteFile(l.logo(), logo); err != nil {
		return err
	}
	return nbformat.WriteFile(l.specFile(), append(text, '\n'))
}
