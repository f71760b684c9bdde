package echarts

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noRegistry removes every setting that names a registry, and npm itself. It returns the
// empty folder that becomes PATH.
func noRegistry(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("NPM_CONFIG_REGISTRY", "")
	t.Setenv("npm_config_registry", "")
	t.Setenv("NPM_CONFIG_USERCONFIG", filepath.Join(bin, "none"))
	return bin
}

// fakeNPM installs a shell script as npm in the folder that noRegistry returned.
func fakeNPM(t *testing.T, bin, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// says returns the script of an npm that prints a registry and an unrelated warning.
func says(url string) string {
	return `echo "npm warn Unknown user config" >&2; [ "$*" = "config get registry" ] && echo "` + url + `"`
}

func TestRegistry(t *testing.T) {
	bin := noRegistry(t)
	fakeNPM(t, bin, says("https://npm.example/"))
	file := filepath.Join(bin, "npmrc")
	text := "fund=false\n//other/:_authToken=x\n; registry=https://no.example\nregistry = https://mirror.example/npm/\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, file, want string }{
		{"https://env.example/", file, "https://env.example"},
		{"", file, "https://mirror.example/npm"},
		{"", file + ".missing", "https://npm.example"},
	} {
		t.Setenv("NPM_CONFIG_REGISTRY", c.env)
		t.Setenv("NPM_CONFIG_USERCONFIG", c.file)
		if got, err := registry(t.Context()); got != c.want || err != nil {
			t.Errorf("NPM_CONFIG_REGISTRY=%q, settings in %s: got %q and %v, want %q", c.env, c.file, got, err, c.want)
		}
	}
}

func TestNoRegistry(t *testing.T) {
	bin := noRegistry(t)
	check := func(what, words string) {
		t.Helper()
		got, err := registry(t.Context())
		if got != "" || err == nil || !strings.Contains(err.Error(), words) ||
			!strings.Contains(err.Error(), "set NPM_CONFIG_REGISTRY to ") {
			t.Errorf("%s: got %q and %v, want an error with %q", what, got, err, words)
		}
	}
	check("without npm", "no npm registry is known: install npm, or ")
	fakeNPM(t, bin, "exit 3")
	check("npm fails", "npm does not print its registry (exit status 3): repair npm, or ")
	fakeNPM(t, bin, says("undefined"))
	check("npm has none", `names the registry "undefined", which is not an address`)
	before := npmPatience
	t.Cleanup(func() { npmPatience = before })
	npmPatience = 100 * time.Millisecond
	fakeNPM(t, bin, `/bin/sleep 4; echo done >"$0.finished"`)
	check("npm hangs", "npm does not print its registry (no answer in 100ms)")
	if _, err := os.Stat(filepath.Join(bin, "npm.finished")); err == nil {
		t.Error("npm was not stopped at the time limit")
	}

	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := registry(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// The package is downloaded from the registry that npm prints.
func TestEnsureFromNPM(t *testing.T) {
	packed := tarball(t, member, script)
	s := npmSource("", pin("e.tgz", packed))
	s.address = registry
	fakeNPM(t, noRegistry(t), says(serve(t, map[string][]byte{"/mirror/echarts/-/e.tgz": packed})+"/mirror/"))
	dst := filepath.Join(t.TempDir(), FileName)
	if err := Ensure(t.Context(), dst, Options{sources: []source{s}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(dst); !bytes.Equal(got, script) {
		t.Errorf("%s holds %q", dst, got)
	}
}

// Without a registry the next source is tried; if that fails, too, the error gives both
// reasons in one line.
func TestEnsureWithoutRegistry(t *testing.T) {
	noRegistry(t)
	unknown := npmSource("", pin("e.tgz", script))
	unknown.address = registry
	host := serve(t, map[string][]byte{"/e.js": script})
	alone, gone := source{script: pin("test script", script)}, source{script: pin("another script", script)}
	alone.script.URL, gone.script.URL = host+"/e.js", host+"/gone.js"

	dst := filepath.Join(t.TempDir(), FileName)
	if err := Ensure(t.Context(), dst, Options{sources: []source{unknown, alone}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(dst); !bytes.Equal(got, script) {
		t.Errorf("%s holds %q", dst, got)
	}
	err := Ensure(t.Context(), dst+".2", Options{sources: []source{unknown, gone}})
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want one line", err)
	}
	for _, words := range []string{
		"no source has " + FileName, "cannot download test script: no npm registry is known",
		"cannot download another script", "404",
	} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q lacks %q", err, words)
		}
	}
}
