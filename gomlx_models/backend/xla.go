//go:build !noxla

package backend

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
	"k8s.io/klog/v2"
)

// XLABuilt tells whether this binary can use XLA.
const XLABuilt = true

func init() {
	// By default GoMLX downloads plugins itself, without a pinned hash.
	xla.EnableAutoInstall(false)
}

// pluginInfo describes a plugin on this machine.
type pluginInfo struct {
	path    string
	source  string // Info.Source
	version string // Info.PluginVersion
}

// cpuConfig are go-xla's options for a CPU. It derives these two from the whole path otherwise:
// a folder named "nvidia" must not turn on GPU arithmetic.
const cpuConfig = "shared_buffers,tf32=false"

func openXLACPU(ctx context.Context, opts Options) (*Backend, error) {
	plugin, err := findCPU(ctx, opts)
	var b *Backend
	if err == nil {
		b, err = load(plugin, XLACPU, cpuConfig, opts, 0)
	}
	if err != nil && named("cpu") != "" {
		err = fmt.Errorf("%s: %w (%w)", PluginPathEnv, err, errNamedPlugin)
	}
	return b, err
}

// load opens the plugin, fills in Info and checks the plugin with a small computation. threads: as of NewClient.
func load(plugin pluginInfo, name, config string, opts Options, threads int) (opened *Backend, err error) {
	defer recoverTo(&err, "loading the PJRT plugin "+plugin.path)
	keepMemory()
	threadPerDevice()
	inner, err := newXLA(plugin.path, config, threads)
	if err != nil {
		return nil, fmt.Errorf("the PJRT plugin %s cannot be used: %s", plugin.path, oneLine(err))
	}
	b := &Backend{Backend: inner, Info: Info{
		Name: name, Source: plugin.source, PluginPath: plugin.path, PluginVersion: plugin.version,
		Devices: inner.NumDevices(), Flags: strings.Join(strings.Fields(os.Getenv(flagsEnv)), " "),
	}, reopen: func(threads int) (*Backend, error) { return load(plugin, name, config, opts, threads) }}
	if b.Info.Devices > 0 {
		b.Info.Device = inner.DeviceDescription(0)
	}
	b.Info.Platform = platform(b.Info)
	if p, err := pjrt.GetPlugin(plugin.path); err == nil { // go-xla caches it: no second load
		major, minor := p.Version()
		b.Info.PJRTAPI = fmt.Sprintf("%d.%d", major, minor)
	}
	if b.Info.PluginSHA256, err = fileSHA256(plugin.path, opts.CacheDir); err != nil {
		b.Finalize()
		return nil, fmt.Errorf("reading the PJRT plugin: %w", err)
	}
	if err := b.try(); err != nil {
		b.Finalize()
		return nil, err
	}
	return b, nil
}

// processorsEnv is the environment variable with the number of processors that XLA's CPU plugin should take for the
// machine's.
const processorsEnv = "PJRT_NPROC"

// defaultThreads is the number of threads that the plugin would start by itself: one for each processor, but at least
// four. named is the value of processorsEnv.
func defaultThreads(named string) int {
	processors, err := strconv.Atoi(named)
	if err != nil {
		processors = runtime.NumCPU()
	}
	return max(processors, 4)
}

// klogMu serialises the changes that newXLA makes to klog's global state.
var klogMu sync.Mutex

// newXLA makes a client with its log discarded: the error says the same. XLA's CPU plugin has as many threads as
// devices, see threadPerDevice; nothing else here depends on the number of its devices.
func newXLA(path, config string, threads int) (compute.Backend, error) {
	if strings.Contains(path, ",") {
		return nil, fmt.Errorf("its path contains a comma, where go-xla expects options to start; rename or move it")
	}
	options := pjrt.NamedValuesMap{}
	if isKind(path, "cpu") {
		options["cpu_device_count"] = int64(cmp.Or(threads, defaultThreads(os.Getenv(processorsEnv))))
	}
	if isKind(path, "cuda") {
		options["preallocate"] = false // or each client takes three quarters of what is free: runs share a GPU
	}
	klogMu.Lock()
	defer klogMu.Unlock()
	state := klog.CaptureState()
	defer state.Restore()
	klog.SetLogger(logr.Discard())
	return xla.NewWithOptions(path+","+config, options)
}

// platform derives "cpu" or "cuda" from the device's description. For other devices it
// returns the description's first word, in lower case.
func platform(info Info) string {
	device := strings.ToLower(info.Device)
	switch {
	case strings.Contains(device, "cpu"):
		return "cpu"
	case strings.Contains(device, "cuda") || strings.Contains(device, "gpu") || strings.Contains(device, "nvidia"):
		return "cuda"
	}
	first, _, _ := strings.Cut(device, " ")
	return first
}
