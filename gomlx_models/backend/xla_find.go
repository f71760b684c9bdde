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

// findCPU finds a CPU plugin: one named by PluginPathEnv, then the pinned one in the cache,
// which is downloaded if necessary. No other is taken in its place: it would be native code
// that no hash vouches for. A plugin or a download that is not the pinned one is
// artifact.ErrDamaged, and a cache folder that others may write artifact.ErrShared.
func findCPU(ctx context.Context, opts Options) (pluginInfo, error) {
	if list := os.Getenv(PluginPathEnv); list != "" {
		path, err := searchList(list, "cpu")
		if err != nil {
			return pluginInfo{}, fmt.Errorf("%s: %w (%w)", PluginPathEnv, err, errNamedPlugin)
		}
		if path != "" {
			return pluginInfo{path: path, source: PluginPathEnv}, nil
		}
		logf(opts.Log, "%s=%s contains no CPU plugin: using the cache", PluginPathEnv, list)
	}
	pinned, err := ensurePinned(ctx, opts)
	switch {
	case err == nil || ctx.Err() != nil:
		return pinned, err
	case errors.Is(err, artifact.ErrShared):
		return pluginInfo{}, fmt.Errorf("no XLA plugin was loaded: %w", err)
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
	if err := artifact.CheckPrivate(opts.CacheDir, plugin.path); err != nil {
		return pluginInfo{}, err
	}
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

// searchList returns the first plugin of the kind ("cpu" or "cuda") in a list of files and
// folders in the form of PluginPathEnv, or "" if there is none. An entry that does not exist
// is an error. A file in the list counts as a CPU plugin, whatever its name.
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
			return entry, nil
		case info.IsDir():
			if path := searchDir(entry, kind); path != "" {
				return path, nil
			}
		}
	}
	return "", nil
}

// pluginName matches the file names that go-xla looks for and the one in the wheels.
var pluginName = regexp.MustCompile(`^(?:pjrt_c_api_(.+)_plugin|pjrt[-_]plugin[-_](.+)|` +
	`xla_(cpu)_pjrt|xla_(cuda)\d*_plugin)\.(?:so|dylib|dll)$`)

// isKind tells whether the file name is that of a plugin of the kind: "cpu" and
// "cpu_v0.114.0" are both "cpu".
func isKind(path, kind string) bool {
	m := pluginName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return false
	}
	name := strings.Join(m[1:], "")
	return name == kind || strings.HasPrefix(name, kind+"_v") || kind == "cuda" && strings.HasPrefix(name, kind)
}

// searchDir returns the path of the first plugin of the kind in dir, or "".
func searchDir(dir, kind string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isKind(path, kind) && exists(path) {
			return path
		}
	}
	return ""
}
