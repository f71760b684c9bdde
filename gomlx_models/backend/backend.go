// Package backend opens the engine that runs GoMLX computation graphs: XLA on the CPU
// by default, XLA on an NVIDIA GPU, or GoMLX's pure Go engine.
//
// XLA comes as a PJRT plugin, a shared library. If the CPU plugin is not in the user's cache
// folder, Open downloads the release that this package pins by SHA-256. So a fresh clone needs
// only Go and a C compiler. What is not the pinned file is never loaded in its place; other
// plugins are used where the user names them. With -tags noxla only the Go engine is built in,
// and no C compiler is needed.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tvps/data/artifact"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
)

// PluginPathEnv is the environment variable that names plugins to use without a check of
// their hash: a colon-separated list of files. One whose name contains cuda is for a GPU.
const PluginPathEnv = "PJRT_PLUGIN_LIBRARY_PATH"

// flagsEnv is the environment variable with options of XLA, such as
// --xla_cpu_use_xnnpack=false. The plugin reads it once. Options can change the last digits
// of results, so Info records them.
const flagsEnv = "XLA_FLAGS"

// The names that Open accepts.
const (
	Default = ""         // XLACPU, or Go with a warning if no plugin is available
	XLACPU  = "xla:cpu"  // XLA on the CPU
	XLACUDA = "xla:cuda" // XLA on an NVIDIA GPU
	Go      = "go"       // pure Go: runs everywhere, 10 to 30 times slower
)

// Backend is an open engine with its description.
//
// Pass the embedded compute.Backend to GoMLX, as in graph.CallOnce(b.Backend, ...), not the
// *Backend: GoMLX compares backends by identity and its tensors keep the embedded one, so
// the second call would fail. Because Finalize returns an error, *Backend is no
// compute.Backend, and the compiler reports the mistake.
type Backend struct {
	compute.Backend
	Info Info

	reopen func(threads int) (*Backend, error)
}

// Info describes the engine, for provenance records and messages.
type Info struct {
	Name          string `json:"name"`                     // as Open's
	Platform      string `json:"platform"`                 // cpu, cuda, or the plugin's name of its device
	Devices       int    `json:"devices"`                  // number of devices
	Device        string `json:"device,omitempty"`         // the backend's description of the first device
	Source        string `json:"source,omitempty"`         // where the plugin was found
	PluginPath    string `json:"plugin_path,omitempty"`    // the file that was loaded
	PluginVersion string `json:"plugin_version,omitempty"` // release of the plugin, "" if unknown
	PluginSHA256  string `json:"plugin_sha256,omitempty"`  // of the file at PluginPath
	PJRTAPI       string `json:"pjrt_api,omitempty"`       // version of the plugin's C interface, such as 0.81
	Flags         string `json:"flags,omitempty"`          // value of flagsEnv, "" for none
}

// Options adjusts Open. The zero value logs nothing.
type Options struct {
	Log      io.Writer // warnings and progress; nil for none
	CacheDir string    // folder for downloaded plugins; "" for artifact.CacheDir
	NoFetch  bool      // never download: a missing plugin is an error

	pins map[string]artifact.Archive // nil for artifact.XLAPlugin; tests replace it
}

// Identity returns what can change the results of a program: "backend" is the name, "plugin"
// the first 16 hexadecimal digits of the plugin's SHA-256 ("" for Go), and "flags" XLA's
// options, absent if there are none.
func (i Info) Identity() map[string]string {
	id := map[string]string{"backend": i.Name, "plugin": i.PluginSHA256[:min(16, len(i.PluginSHA256))]}
	if i.Flags != "" {
		id["flags"] = i.Flags
	}
	return id
}

// SerialExecution tells whether this client runs its programs one after the other, as XLA's
// CPU plugin does. If so, parallel runs need one client each, see NewClient. Otherwise they
// can share one client; on a GPU they should, since all clients share its memory.
func (b *Backend) SerialExecution() bool {
	return b.Info.Platform == "cpu" && b.Info.PluginPath != ""
}

// NewClient opens a further client of the same plugin with the same options. It fails as
// Open does.
//
// threads is the number of threads on which a client of XLA's CPU plugin runs its programs, and
// 0 that of Open: one for each processor, but at least four. Programs of many small products, such
// as an update of Soft Actor-Critic, take a third less processor time with one thread: waking the
// others takes longer than the work that they take over. The last digits of results can depend on
// it. Other engines ignore it.
func (b *Backend) NewClient(threads int) (*Backend, error) {
	client, err := b.reopen(threads)
	if err != nil {
		return nil, fmt.Errorf("cannot open another client of the backend: %w", err)
	}
	return client, nil
}

// Finalize frees the backend's resources. Nothing made with the backend may be used
// afterwards. (Backend says why it returns an error.)
func (b *Backend) Finalize() (err error) {
	defer recoverTo(&err, "closing the backend")
	b.Backend.Finalize()
	return nil
}

// Open opens the named backend, downloads a plugin if necessary, and tests the backend with
// a small computation. name is one of the constants above. Errors are one line. A panic of GoMLX or of the plugin
// is returned as an error.
//
// Only Default falls back to Go, with one line of warning to opts.Log. It returns the error
// instead if ctx is done, if a plugin named by PluginPathEnv cannot be used, or if the plugin or
// its download is damaged or was altered (artifact.ErrDamaged).
func Open(ctx context.Context, name string, opts Options) (*Backend, error) {
	if name != Go && opts.CacheDir == "" {
		var err error
		if opts.CacheDir, err = artifact.CacheDir(); err != nil {
			return nil, err
		}
	}
	switch {
	case name == Go:
		return openGo()
	case name == Default:
		return openDefault(ctx, opts)
	case name == XLACPU:
		return openXLACPU(ctx, opts)
	case name == XLACUDA:
		return openXLACUDA(ctx, opts)
	}
	return nil, fmt.Errorf("unknown backend %q: use %s, %s or %s", name, XLACPU, XLACUDA, Go)
}

func openDefault(ctx context.Context, opts Options) (*Backend, error) {
	b, err := openXLACPU(ctx, opts)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNamedPlugin) || errors.Is(err, artifact.ErrDamaged) {
		return b, err
	}
	logf(opts.Log, "warning: running on the pure Go backend, 10 to 30 times slower than XLA: %v", err)
	return openGo()
}

// errNamedPlugin marks failures of a plugin that the user named, so that no other engine
// replaces it silently.
var errNamedPlugin = errors.New("the named plugin cannot be used")

func openGo() (opened *Backend, err error) {
	defer recoverTo(&err, "starting the Go backend")
	inner, err := gobackend.New("ops_sequential")
	if err != nil {
		return nil, fmt.Errorf("the Go backend does not start: %s", oneLine(err))
	}
	b := &Backend{Backend: inner, Info: Info{Name: Go, Platform: "cpu", Devices: inner.NumDevices()},
		reopen: func(int) (*Backend, error) { return openGo() }}
	if err := b.try(); err != nil {
		b.Finalize()
		return nil, err
	}
	return b, nil
}

// try computes 1 + 1 to prove that the backend compiles and runs graphs.
func (b *Backend) try() (err error) {
	defer recoverTo(&err, "trying the backend "+b.Info.Name)
	got, err := graph.CallOnce(b.Backend, func(x *graph.Node) *graph.Node { return graph.AddScalar(x, 1) }, float32(1))
	if err != nil {
		return fmt.Errorf("the backend %s opens but cannot compute: %s", b.Info.Name, oneLine(err))
	}
	if value, ok := got.Value().(float32); !ok || value != 2 {
		return fmt.Errorf("the backend %s computes 1 + 1 = %v", b.Info.Name, got.Value())
	}
	return nil
}

// recoverTo stores a panic in *err; doing names the operation for the message.
func recoverTo(err *error, doing string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s failed: %s", doing, oneLine(fmt.Errorf("%v", r)))
	}
}

// oneLine returns the text of err without line breaks: GoMLX's errors may contain some.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func logf(log io.Writer, format string, args ...any) {
	if log != nil {
		fmt.Fprintf(log, format+"\n", args...)
	}
}

// exists tells whether path exists and is not a folder.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
