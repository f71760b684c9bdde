//go:build !noxla

package backend

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/gomlx/core/graph"
)

// open opens the real plugin from the user's cache. It downloads the plugin if necessary and
// skips the test if the network cannot be reached.
func open(t testing.TB, name string) *Backend {
	t.Helper()
	b, err := Open(t.Context(), name, Options{})
	if err != nil {
		if os.Getenv(PluginPathEnv) == "" && strings.Contains(err.Error(), "cannot be reached") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return b
}

// The CPU plugin computes and has no failing check. A second client works after the first is closed, and has the same
// Identity.
func TestOpenXLA(t *testing.T) {
	t.Setenv(flagsEnv, "")
	b := open(t, XLACPU)
	shared := b.HasSharedBuffers()
	another, err := b.NewClient(0)
	if err != nil || !b.SerialExecution() || another.Backend == b.Backend {
		t.Fatalf("serial %v, error %v", b.SerialExecution(), err)
	}
	defer another.Finalize()
	demand.NoError(t, b.Finalize())
	y, err := graph.CallOnce(another.Backend, double, []float32{1, 2})
	demand.NoError(t, err)
	if y, err = graph.CallOnce(another.Backend, double, y); err != nil || y.Value().([]float32)[1] != 8 {
		t.Errorf("%v, %v", y, err)
	}
	if b.Info.Name != XLACPU || b.Info.Platform != "cpu" || b.Info.Devices < 1 || len(b.Info.PluginSHA256) != 64 ||
		b.Info.PJRTAPI == "" || another.Info != b.Info || another.HasSharedBuffers() != shared {
		t.Errorf("%+v; %+v, shared buffers %v", b.Info, another.Info, another.HasSharedBuffers())
	}
	id := b.Info.Identity()
	if id["backend"] != XLACPU || len(id) != 2 || id["plugin"] != another.Info.PluginSHA256[:16] {
		t.Errorf("identity %v", id)
	}
	for _, c := range Diagnose(t.Context(), XLACPU) {
		if c.Status == Fail {
			t.Errorf("%+v", c)
		}
	}
}

// Options of XLA can change the last digits of results, so they are part of the Identity.
func TestFlags(t *testing.T) {
	t.Setenv(flagsEnv, "")
	plain := open(t, XLACPU)
	defer plain.Finalize()
	t.Setenv(flagsEnv, " --xla_cpu_use_xnnpack=true  --xla_cpu_enable_fast_math=false ")
	b := open(t, XLACPU)
	defer b.Finalize()
	id := b.Info.Identity()
	if id["flags"] != "--xla_cpu_use_xnnpack=true --xla_cpu_enable_fast_math=false" {
		t.Errorf("identity %v", id)
	}
	delete(id, "flags")
	if !maps.Equal(id, plain.Info.Identity()) {
		t.Errorf("identity %v, without flags %v", id, plain.Info.Identity())
	}
}

// A named plugin is opened as a file of a list, with the settings of a CPU even if a folder in its path is
// named nvidia.
func TestNamedPlugin(t *testing.T) {
	b := open(t, XLACPU)
	path := b.Info.PluginPath
	b.Finalize()
	dir := filepath.Join(t.TempDir(), "nvidia")
	link := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	cache := t.TempDir()
	os.Mkdir(dir, 0o755)
	demand.NoError(t, os.Symlink(path, link))
	for _, env := range []string{link, ":/no/xla_cuda_plugin.so:" + link} {
		t.Setenv(PluginPathEnv, env)
		b, err := Open(t.Context(), Default, Options{CacheDir: cache})
		if err != nil {
			t.Fatalf("%s: %v", env, err)
		}
		if b.Info.PluginPath != link || b.Info.Source != PluginPathEnv {
			t.Errorf("%s: %+v", env, b.Info)
		}
		if x := b.Backend.(*xla.Backend); x.DotGeneralUseTF32 || !x.HasSharedBuffers() {
			t.Errorf("%s: opened with the settings of a GPU", env)
		}
		b.Finalize()
	}
}

// A named file that is not a plugin is an error of one line, and Default does not fall back
// to Go.
func TestBrokenNamedPlugin(t *testing.T) {
	path, cache := filepath.Join(t.TempDir(), "plugin.so"), t.TempDir()
	demand.Write(t, path, "hello")
	t.Setenv(PluginPathEnv, path)
	for _, backend := range []string{Default, XLACPU} {
		_, err := Open(t.Context(), backend, Options{CacheDir: cache})
		demand.Error(t, err, path, "cannot be used")
		if !errors.Is(err, errNamedPlugin) {
			t.Errorf("%q: not marked as named: %v", backend, err)
		}
	}
	t.Setenv(PluginPathEnv, "/no/such/place")
	_, err := Open(t.Context(), Default, Options{CacheDir: cache})
	demand.Error(t, err, PluginPathEnv, "no PJRT plugin at /no/such/place")
}

func TestCUDAWithoutGPU(t *testing.T) {
	if len(nvidiaDevices()) > 0 {
		t.Skip("there is a GPU")
	}
	_, err := Open(t.Context(), XLACUDA, Options{CacheDir: t.TempDir()})
	demand.Error(t, err, "no NVIDIA GPU is visible")
	failed := false
	for _, c := range Diagnose(t.Context(), XLACUDA) {
		failed = failed || c.Name == "gpu" && c.Status == Fail
	}
	if !failed {
		t.Error("no check named gpu is a Fail")
	}
}
