// Package mujoco calls MuJoCo, the physics engine of the paper's robots (Section 3.2), without
// a C compiler: it loads libmujoco 4.0.0 at run time with package purego and uses MuJoCo's
// batch interface, which needs almost no layouts of C structs. A Model is compiled from MJCF,
// MuJoCo's XML. A Sim is one simulation of it, whose state is in Go slices.
//
// The library is a pinned file of PyPI, stored in the cache folder.
package mujoco

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"tvps/data/artifact"

	"github.com/ebitengine/purego"
)

// PathEnv is the environment variable with the path of a libmujoco to use instead of the
// pinned one.
const PathEnv = "TVPS_MUJOCO"

// Version is the release of MuJoCo that this package is written for.
const Version = artifact.MuJoCoVersion

// versionNumber is what mj_version of that release returns.
const versionNumber = 4000000

// ErrPlatform is returned if no library is pinned for this operating system and processor.
var ErrPlatform = errors.New("no MuJoCo library for this platform")

// Library is a loaded libmujoco. It is safe for concurrent use and is never unloaded.
type Library struct {
	Path string // the file that was loaded
	fn   functions
}

// functions holds the addresses of the C functions by name.
type functions map[string]uintptr

// names are those of the C functions that this package calls.
var names = []string{"mj_version", "mj_versionString", "mju_setLogHandler",
	"mj_defaultVFS", "mj_addBufferVFS", "mj_deleteVFS", "mj_loadXML", "mj_deleteModel", "mj_name2id",
	"mjb_makeBatch", "mjb_deleteBatch", "mjb_stateComponent", "mjb_output", "mjb_expand",
	"mjb_reset", "mjb_forward", "mjb_step", "mjb_error", "mjb_warning"}

// loaded holds the libraries of this process by path, so that each has one log handler.
var loaded = struct {
	sync.Mutex
	byPath map[string]*Library
}{byPath: map[string]*Library{}}

// Open loads the library. It downloads the pinned one if it is missing in artifact.CacheDir. Each error is one
// sentence: ErrPlatform if no library is pinned for the platform, artifact.ErrNetwork if the
// download fails.
func Open(ctx context.Context, opts artifact.Options) (*Library, error) {
	path, err := find(ctx, opts)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if lib := loaded.byPath[path]; lib != nil {
		return lib, nil
	}
	lib, err := load(path)
	if err != nil {
		return nil, err
	}
	loaded.byPath[path] = lib
	return lib, nil
}

// find returns the path of the library: that in PathEnv, otherwise the pinned one in the cache.
func find(ctx context.Context, opts artifact.Options) (string, error) {
	if path := os.Getenv(PathEnv); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s=%s: there is no such file; set it to a libmujoco %s, or unset it to download one",
				PathEnv, path, Version)
		}
		return filepath.Abs(path)
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	wheel, ok := artifact.MuJoCo[platform]
	if !ok {
		return "", fmt.Errorf("%w: mujoco-core %s is pinned for Linux on amd64 and arm64, this is %s; "+
			"set %s to a libmujoco of that release", ErrPlatform, Version, platform, PathEnv)
	}
	cache, err := artifact.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "mujoco", Version+"-"+platform)
	library := wheel.Members[0].In(dir)
	if err := artifact.CheckPrivate(cache, library); err != nil {
		return "", fmt.Errorf("MuJoCo was not loaded: %w", err)
	}
	if _, err := wheel.Unpack(ctx, dir, opts); err != nil {
		return "", fmt.Errorf("cannot get MuJoCo: %w; or set %s to a libmujoco %s", err, PathEnv, Version)
	}
	return library, nil
}

// load opens the file, looks up the functions and installs the log handler.
func load(path string) (*Library, error) {
	handle, err := openLibrary(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be loaded as libmujoco (%v); delete it to download it again, or check %s",
			path, err, PathEnv)
	}
	lib := &Library{Path: path, fn: functions{}}
	for _, name := range names {
		if lib.fn[name], err = findSymbol(handle, name); err != nil {
			return nil, fmt.Errorf("%s has no function %s: it is not libmujoco %s; check %s", path, name, Version, PathEnv)
		}
	}
	if got := int32(call(lib.fn["mj_version"])); got != versionNumber {
		return nil, fmt.Errorf("%s is MuJoCo %s, but this program is written for %s; check %s",
			path, goString(call(lib.fn["mj_versionString"])), Version, PathEnv)
	}
	call(lib.fn["mju_setLogHandler"], logHandler())
	return lib, nil
}

// call calls the C function at address fn. The arguments are integers and pointers.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// pointer converts an address in C memory to a pointer. The garbage collector neither moves
// nor frees such memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// goString returns a copy of the C string at the address, "" at 0.
func goString(address uintptr) string {
	if address == 0 {
		return ""
	}
	p := (*byte)(pointer(address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// cString returns s with a zero byte at the end.
func cString(s string) []byte { return append([]byte(s), 0) }

// untilZero returns the C string in a buffer.
func untilZero(buf []byte) string {
	text, _, _ := bytes.Cut(buf, []byte{0})
	return string(text)
}
