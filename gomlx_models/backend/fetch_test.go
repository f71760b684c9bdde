//go:build !noxla

package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"tvps/data/artifact"
)

func TestFetchPlugin(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x, cache := newIndex(t), t.TempDir()
	opts := options(cache, x.URL)
	got, err := findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	if got.path != pluginPath(cache) || got.source != "PyPI" || got.version != "xla-cpu-pjrt 0.0.1" {
		t.Errorf("found %+v", got)
	}
	if data, _ := os.ReadFile(got.path); !bytes.Equal(data, fakePlugin()) {
		t.Error("the unpacked plugin differs")
	}
	if info, _ := os.Stat(got.path); info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("mode %v", info.Mode())
	}
	x.Close() // the second time the plugin must come from the cache
	if got, err = findCPU(t.Context(), opts); err != nil || got.source != "cache" {
		t.Errorf("second time: %+v, %v", got, err)
	}
}

func TestDamagedCachedPlugin(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x, cache := newIndex(t), t.TempDir()
	opts := options(cache, x.URL)
	_, err := findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	for name, damage := range map[string]func([]byte) []byte{
		"altered":   func(b []byte) []byte { b[7] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"empty":     func([]byte) []byte { return nil },
	} {
		os.WriteFile(pluginPath(cache), damage(fakePlugin()), 0o755)
		var log bytes.Buffer
		opts.Log = &log
		_, err = findCPU(t.Context(), opts)
		check(t, err, "", cache, pluginFile)
		if sum, _ := hashFile(pluginPath(cache)); sum != hexSum(fakePlugin()) {
			t.Errorf("%s: the damaged plugin is still there", name)
		}
		if !strings.Contains(log.String(), "is damaged") {
			t.Errorf("%s: the log does not report it: %q", name, log.String())
		}
	}
	x.Close()
	os.WriteFile(pluginPath(cache), nil, 0o755)
	opts.NoFetch = true
	_, err = findCPU(t.Context(), opts)
	check(t, err, "is damaged; the next run fetches it again", cache, pluginFile)
	opts.NoFetch = false
	for _, name := range []string{XLACPU, Default, Default} { // offline: no other is taken, the second time neither
		_, err = Open(t.Context(), name, opts)
		check(t, err, "is damaged and cannot be fetched again: the package index cannot be reached", cache, pluginFile)
		if !errors.Is(err, artifact.ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSharedCache: a plugin that others could replace is not loaded, and no other backend is taken in its place.
func TestSharedCache(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x, cache := newIndex(t), t.TempDir()
	opts := options(cache, x.URL)
	_, err := findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	for _, path := range []string{pluginPath(cache), filepath.Dir(pluginPath(cache)), cache} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), Default, opts)
		check(t, err, "run: chmod go-w "+path, cache, pluginFile)
		if !errors.Is(err, artifact.ErrShared) {
			t.Errorf("%v", err)
		}
		os.Chmod(path, 0o755)
	}
	_, err = findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
}

// With a limit on the size of files the kernel stops the unpacking half way.
func TestFileSizeLimit(t *testing.T) {
	x, cache := newIndex(t), t.TempDir()
	cmd := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 100; exec "$0"`, "/proc/"+fmt.Sprint(os.Getpid())+"/exe")
	cmd.Env = child(x.URL, cache).Env
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is full") {
		t.Errorf("got %q, %v", out, err)
	}
	for _, name := range files(t, cache) {
		if name == pluginFile {
			t.Error("a plugin was left behind")
		}
	}
}

// A plugin in a read-only cache is used.
func TestReadOnlyCache(t *testing.T) {
	x := newIndex(t)
	cache, err := os.MkdirTemp("/tmp", "backend-ro-") // user 65534 may not enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(cache, 0o755); os.RemoveAll(cache) })
	run := func() (string, error) {
		cmd := child(x.URL, cache)
		if os.Getuid() == 0 { // root may write everywhere
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	os.MkdirAll(filepath.Dir(pluginPath(cache)), 0o755)
	os.WriteFile(pluginPath(cache), fakePlugin(), 0o755)
	os.Chmod(filepath.Dir(pluginPath(cache)), 0o555)
	defer os.Chmod(filepath.Dir(pluginPath(cache)), 0o755)
	os.Chmod(cache, 0o555)
	if out, err := run(); err != nil || strings.TrimSpace(out) != "cache" {
		t.Errorf("a plugin in a read-only cache: %q, %v", out, err)
	}
}

func TestTwoProcesses(t *testing.T) {
	x, cache := newIndex(t), t.TempDir()
	x.slow = 300 * time.Millisecond // so that both processes run at the same time
	a, b := child(x.URL, cache), child(x.URL, cache)
	var outA, outB bytes.Buffer
	a.Stdout, a.Stderr, b.Stdout, b.Stderr = &outA, &outA, &outB, &outB
	if err := errors.Join(a.Start(), b.Start()); err != nil {
		t.Fatal(err)
	}
	if errA, errB := a.Wait(), b.Wait(); errA != nil || errB != nil {
		t.Errorf("%v %q, %v %q", errA, outA.String(), errB, outB.String())
	}
	if n := x.wheels.Load(); n != 1 {
		t.Errorf("%d downloads", n)
	}
	check(t, nil, "", cache, pluginFile)
}

// A process killed while it unpacks leaves the wheel; the next one uses it.
func TestAfterKill(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x, cache := newIndex(t), t.TempDir()
	dir := filepath.Dir(pluginPath(cache))
	os.MkdirAll(dir, 0o755)
	os.WriteFile(filepath.Join(dir, fakeWheel), makeWheel(), 0o644)
	_, err := findCPU(t.Context(), options(cache, x.URL))
	check(t, err, "", cache, pluginFile)
	if x.wheels.Load() != 0 {
		t.Error("the wheel was downloaded again")
	}
}

func TestNoNetwork(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x, cache := newIndex(t), t.TempDir()
	x.Close()
	opts := options(cache, x.URL)
	_, err := Open(t.Context(), XLACPU, opts)
	check(t, err, "cannot find or download an XLA plugin: the package index cannot be reached", cache)

	var log bytes.Buffer
	opts.Log = &log
	b, err := Open(t.Context(), Default, opts)
	check(t, err, "", cache)
	if err != nil {
		return
	}
	defer b.Finalize()
	if b.Info.Name != Go || !strings.HasPrefix(log.String(), "warning: running on the pure Go backend") ||
		strings.Count(log.String(), "\n") != 1 {
		t.Errorf("opened %q, log %q", b.Info.Name, log.String())
	}
}

func TestCancelled(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	x := newIndex(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Default, options(t.TempDir(), x.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNoUnpinnedPlugin: a plugin of go-xla's installer is loaded on request alone, also if the pinned one is altered on
// its way or cannot be had. Default then fails, and runs on Go only if there is no network.
func TestNoUnpinnedPlugin(t *testing.T) {
	t.Setenv(PluginPathEnv, "")
	t.Setenv("HOME", t.TempDir())
	const installed = "pjrt_c_api_cpu_v0.114.0_plugin.so"
	install := func(cache string) {
		dir := filepath.Join(cache, "pjrt", "go-xla")
		os.MkdirAll(dir, 0o755)
		os.WriteFile(filepath.Join(dir, installed), fakePlugin(), 0o755)
	}
	for what, damage := range map[string]func(x *index){
		"the wheel is altered":    func(x *index) { x.wheel[100_000] ^= 1 },
		"a proxy sends its page":  func(x *index) { x.wheel = []byte("<html>log in first</html>") },
		"the index names another": func(x *index) { x.digest = strings.Repeat("ab", 32) },
		"the index gives no hash": func(x *index) { x.digest = "" },
	} {
		x, cache := newIndex(t), t.TempDir()
		install(cache)
		damage(x)
		for _, name := range []string{Default, XLACPU} {
			b, err := Open(t.Context(), name, options(cache, x.URL))
			if b != nil || !errors.Is(err, artifact.ErrDamaged) {
				t.Errorf("%s, backend %q: %v", what, name, err)
			}
			check(t, err, "no XLA plugin was loaded", cache, installed)
		}
	}
	x, cache := newIndex(t), t.TempDir()
	install(cache)
	x.page = "<html>log in first</html>"
	for _, name := range []string{Default, XLACPU} {
		b, err := Open(t.Context(), name, options(cache, x.URL))
		if b != nil || !errors.Is(err, artifact.ErrNotIndex) {
			t.Errorf("a page for the index, backend %q: %v", name, err)
		}
		check(t, err, "no XLA plugin was loaded: something answered for "+x.URL, cache, installed)
	}
	x.Close()
	_, err := Open(t.Context(), XLACPU, options(cache, x.URL))
	check(t, err, "with "+GoXLA, cache, installed)
	_, err = Open(t.Context(), GoXLA, options(cache, x.URL))
	check(t, err, installed+" is not a complete shared library", cache, installed) // it was taken, and is no library
	opts := options(t.TempDir(), x.URL)
	opts.NoFetch = true
	_, err = Open(t.Context(), GoXLA, opts)
	check(t, err, "no plugin is installed yet", opts.CacheDir)
}
