//go:build !noxla

package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"tvps/data/artifact"
)

// findCPU finds a CPU plugin: one named by PluginPathEnv, then the pinned one in the
// cache (fetched if need be), then what go-xla's own installer brings.
func findCPU(ctx context.Context, opts Options) (found, error) {
	if list := os.Getenv(PluginPathEnv); list != "" {
		path, err := searchList(list, "cpu")
		if err != nil {
			return found{}, fmt.Errorf("%s: %w (%w)", PluginPathEnv, err, errNamedPlugin)
		}
		if path != "" {
			return found{path: path, source: PluginPathEnv}, nil
		}
		logf(opts.Log, "%s=%s holds no CPU plugin: using the cache", PluginPathEnv, list)
	}
	first, err := ensurePinned(ctx, opts)
	if err == nil || ctx.Err() != nil {
		return first, err
	}
	for _, hopeless := range []error{artifact.ErrDiskFull, artifact.ErrNotWritable} {
		if errors.Is(err, hopeless) {
			return found{}, err
		}
	}
	fallback := opts.fallback
	if fallback == nil {
		fallback = goXLAPlugin
	}
	path, err2 := fallback(ctx, opts)
	if ctx.Err() != nil {
		return found{}, ctx.Err()
	}
	if err2 != nil {
		return found{}, fmt.Errorf("no XLA plugin can be had: %w; second source, go-xla's installer: %w; "+
			"or name a plugin with %s", err, err2, PluginPathEnv)
	}
	return found{path: path, source: "go-xla installer", version: goXLAVersion(path)}, nil
}

// searchList goes through a list of files and folders and returns the first plugin of
// the kind ("cpu" or "cuda"), or "". An entry that does not exist is an error.
func searchList(list, kind string) (string, error) {
	for _, entry := range filepath.SplitList(list) {
		if entry == "" {
			continue
		}
		entry, err := filepath.Abs(entry)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(entry)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s does not exist", entry)
		case !info.IsDir() && (kind == "cpu" || isKind(entry, kind)):
			return entry, nil // a single file is taken at its word
		case info.IsDir():
			if path := searchDir(entry, kind); path != "" {
				return path, nil
			}
		}
	}
	return "", nil
}

// pluginName matches the file names that go-xla looks for, and the name in the wheels.
var pluginName = regexp.MustCompile(`^(?:pjrt_c_api_(.+)_plugin|pjrt[-_]plugin[-_](.+)|xla_(cpu)_pjrt|xla_(cuda)\d*_plugin)\.(?:so|dylib|dll)$`)

// isKind says whether a file name is that of a plugin of the kind: "cpu" and
// "cpu_v0.114.0" are both "cpu".
func isKind(path, kind string) bool {
	m := pluginName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return false
	}
	name := strings.Join(m[1:], "")
	return name == kind || strings.HasPrefix(name, kind+"_v") || kind == "cuda" && strings.HasPrefix(name, kind)
}

func searchDir(dir, kind string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isKind(path, kind) && exists(path) {
			return path
		}
	}
	return ""
}

// goXLADirs are the folders where go-xla's installer puts plugins.
func goXLADirs() []string {
	dirs := []string{"/usr/local/lib/go-xla"}
	if home, err := os.UserHomeDir(); err == nil {
		local := filepath.Join(home, ".local", "lib", "go-xla")
		if runtime.GOOS == "darwin" {
			local = filepath.Join(home, "Library", "Application Support", "go-xla")
		}
		dirs = append([]string{local}, dirs...)
	}
	return dirs
}

var versionInName = regexp.MustCompile(`_(v\d[\d.]*\d)_plugin`)

func goXLAVersion(path string) string {
	if m := versionInName.FindStringSubmatch(filepath.Base(path)); m != nil {
		return "go-xla " + m[1]
	}
	return "go-xla"
}
