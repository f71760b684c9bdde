//go:build !noxla

package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tvps/data/artifact"
)

// findCPU finds a CPU plugin: one named by PluginPathEnv, then the pinned one in the cache,
// which is downloaded if necessary. No other is taken in its place: it would be native code
// that no hash vouches for. A plugin or a download that is not the pinned one is
// artifact.ErrDamaged.
func findCPU(ctx context.Context, opts Options) (pluginInfo, error) {
	if path := named("cpu"); path != "" {
		return pluginAt(path, PluginPathEnv)
	}
	pinned, err := ensurePinned(ctx, opts)
	switch {
	case err == nil || ctx.Err() != nil:
		return pinned, err
	case errors.Is(err, artifact.ErrDamaged):
		return pluginInfo{}, fmt.Errorf("no XLA plugin was loaded, as what was found is not the pinned one: %w", err)
	case errors.Is(err, artifact.ErrDiskFull) || errors.Is(err, artifact.ErrNotWritable):
		return pluginInfo{}, err // no other plugin would help
	}
	return pluginInfo{}, fmt.Errorf("cannot find or download an XLA plugin: %w; name one with %s", err, PluginPathEnv)
}

// ensurePinned returns the pinned plugin in the cache, and downloads it first if it is
// missing or damaged.
func ensurePinned(ctx context.Context, opts Options) (pluginInfo, error) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	table := opts.pins
	if table == nil {
		table = artifact.XLAPlugin
	}
	wheel, ok := table[platform]
	if !ok {
		return pluginInfo{}, fmt.Errorf("no plugin is pinned for %s", platform)
	}
	dir := filepath.Join(opts.CacheDir, "pjrt", wheel.Release+"-"+platform)
	plugin := pluginInfo{wheel.Members[0].In(dir), "cache", wheel.Package + " " + wheel.Release}
	fetched, err := wheel.Unpack(ctx, dir, artifact.Options{
		Log: opts.Log, NoFetch: opts.NoFetch,
		Hash: func(path string) (string, error) { return fileSHA256(path, opts.CacheDir) },
	})
	if err != nil {
		return pluginInfo{}, err
	}
	if fetched {
		plugin.source = "PyPI"
	}
	return plugin, nil
}

// named returns the file that PluginPathEnv names for "cpu" or "cuda", or "".
func named(kind string) string {
	for _, file := range filepath.SplitList(os.Getenv(PluginPathEnv)) {
		if file != "" && isKind(file, "cuda") == (kind == "cuda") {
			return file
		}
	}
	return ""
}

// isKind tells by the name of a plugin's file whether it is one for "cpu" or "cuda".
func isKind(path, kind string) bool { return strings.Contains(filepath.Base(path), kind) }

// pluginAt returns the plugin in a file.
func pluginAt(path, source string) (pluginInfo, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return pluginInfo{}, err
	}
	if !exists(path) {
		return pluginInfo{}, fmt.Errorf("no PJRT plugin at %s: name a file", path)
	}
	return pluginInfo{path: path, source: source}, nil
}
