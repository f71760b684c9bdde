package backend

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/data/artifact"
)

// Status is the outcome of a check.
type Status string

// A Warn does not stop the program, a Fail does.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one line of a diagnosis.
type Check struct {
	Name   string
	Status Status
	Detail string // what was found
	Fix    string // how to fix a Warn or Fail; "" if there is nothing to fix
}

// PrintChecks prints one line for each check, and a second line with its Fix unless it is
// OK. It returns the number of failed checks.
func PrintChecks(out io.Writer, checks []Check) (failed int, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Status, c.Name, c.Detail)
		if c.Fix != "" && c.Status != OK {
			fmt.Fprintf(w, "\t\t-> %s\n", c.Fix)
		}
		if c.Status == Fail {
			failed++
		}
	}
	return failed, w.Flush()
}

// Diagnose checks everything that Open(ctx, name) needs: Go, the backend with its plugin,
// the GPU, and the cache folder. It downloads nothing. If a check is a Fail, the program cannot
// run with this backend.
func Diagnose(ctx context.Context, name string) []Check {
	toolchain := Check{Name: "go", Status: OK,
		Detail: fmt.Sprintf("%s %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	cache := checkCache()
	return slices.Concat([]Check{toolchain}, checkBackend(ctx, name, cache.Status), []Check{checkGPU(name), cache})
}

// checkBackend opens the backend without a download.
func checkBackend(ctx context.Context, name string, cache Status) []Check {
	var notes strings.Builder
	b, err := Open(ctx, name, Options{NoFetch: true, Log: &notes})
	if err != nil {
		c := Check{Name: "backend", Status: Fail, Detail: err.Error(),
			Fix: "use --backend go, or make the named backend available"}
		if name == XLACPU && os.Getenv(PluginPathEnv) == "" && XLABuilt && cache == OK {
			c.Status, c.Fix = Warn, "nothing: the first run fetches the plugin (63 MB)"
		}
		return []Check{c}
	}
	defer b.Finalize()
	backend := Check{Name: "backend", Status: OK,
		Detail: fmt.Sprintf("%s on %s, %d device(s)", b.Info.Name, b.Info.Platform, b.Info.Devices)}
	if b.Info.PluginPath == "" {
		if name == Default && XLABuilt {
			backend.Status, backend.Detail = Warn, strings.TrimPrefix(strings.TrimSpace(notes.String()), "warning: ")
			backend.Fix = "nothing: the first run fetches the plugin (63 MB) if it can reach the network"
		}
		return []Check{backend}
	}
	return []Check{backend, describePlugin(b.Info)}
}

func describePlugin(info Info) Check {
	c := Check{Name: "plugin", Status: OK, Detail: fmt.Sprintf("%s, %s, PJRT %s, SHA-256 %s, from %s",
		info.PluginPath, cmp.Or(info.PluginVersion, "unknown version"), info.PJRTAPI, info.PluginSHA256, info.Source)}
	if info.Flags != "" {
		c.Detail += fmt.Sprintf(", %s %q", flagsEnv, info.Flags)
	}
	return c
}

// checkGPU reports NVIDIA devices. Having none is a Fail for xla:cuda only.
func checkGPU(name string) Check {
	devices := nvidiaDevices()
	switch {
	case len(devices) > 0:
		return Check{Name: "gpu", Status: OK, Detail: strings.Join(devices, " ")}
	case name == XLACUDA:
		return Check{Name: "gpu", Status: Fail, Detail: "no NVIDIA GPU is visible (no /dev/nvidia0)",
			Fix: "use --backend xla:cpu, or give the container access to the GPU (docker run --gpus all)"}
	}
	return Check{Name: "gpu", Status: OK, Detail: "none (not needed)"}
}

// nvidiaDevices lists the device files of NVIDIA GPUs, or /dev/dxg under WSL.
func nvidiaDevices() []string {
	devices, _ := filepath.Glob("/dev/nvidia[0-9]*")
	if len(devices) == 0 && exists("/usr/lib/wsl/lib/libcuda.so.1") {
		devices, _ = filepath.Glob("/dev/dxg")
	}
	return devices
}

// checkCache tries to write to the cache folder and checks the free space.
func checkCache() Check {
	const fix = "make it writable, or set TVPS_CACHE to another folder"
	dir, err := artifact.CacheDir()
	if err != nil {
		return Check{Name: "cache", Status: Fail, Detail: err.Error(), Fix: "set TVPS_CACHE"}
	}
	if err := artifact.TryWrite(dir); err != nil {
		return Check{Name: "cache", Status: Fail, Detail: err.Error(), Fix: fix}
	}
	return Check{Name: "cache", Status: OK, Detail: dir + " is writable"}
}
