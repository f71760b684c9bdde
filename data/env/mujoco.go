package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"tvps/data/artifact"

	"github.com/ebitengine/purego"
)

// mujocoPath is the environment variable with the path of a libmujoco to use instead of the
// pinned one.
const mujocoPath = "TVPS_MUJOCO"

// mujocoNumber is what mj_version of the pinned release returns.
const mujocoNumber = 4000000

// ErrPlatform is returned if no library is pinned for this operating system and processor.
var ErrPlatform = errors.New("no MuJoCo library for this platform")

// library is a loaded libmujoco, called without a C compiler: package purego loads it at run time. MuJoCo's batch
// interface needs almost no layouts of C structs. It is safe for concurrent use and is never unloaded.
type library struct {
	fn map[string]uintptr // addresses of the C functions by name
}

// cFunctions are the names of the C functions that are called.
var cFunctions = []string{"mj_version", "mj_versionString", "mju_setLogHandler",
	"mj_defaultVFS", "mj_addBufferVFS", "mj_deleteVFS", "mj_loadXML", "mj_deleteModel",
	"mjb_makeBatch", "mjb_deleteBatch", "mjb_stateComponent",
	"mjb_reset", "mjb_forward", "mjb_step", "mjb_error", "mjb_warning"}

// openMuJoCo loads the library, looks up its functions and installs the log handler. It downloads the pinned library if
// it is missing in artifact.CacheDir. Each error is one sentence: ErrPlatform if no library is pinned for the platform,
// artifact.ErrNetwork if the download fails.
func openMuJoCo(ctx context.Context, opts artifact.Options) (*library, error) {
	path, err := findMuJoCo(ctx, opts)
	if err != nil {
		return nil, err
	}
	handle, err := openLibrary(path) // the system loads it once
	if err != nil {
		return nil, fmt.Errorf("%s cannot be loaded as libmujoco (%v); delete it to download it again, or check %s",
			path, err, mujocoPath)
	}
	lib := &library{fn: map[string]uintptr{}}
	for _, name := range cFunctions {
		if lib.fn[name], err = findSymbol(handle, name); err != nil {
			return nil, fmt.Errorf("%s has no function %s: it is not libmujoco %s; check %s", path, name,
				artifact.MuJoCoVersion, mujocoPath)
		}
	}
	if got := int32(call(lib.fn["mj_version"])); got != mujocoNumber {
		return nil, fmt.Errorf("%s is MuJoCo %s, but this program is written for %s; check %s",
			path, goString(call(lib.fn["mj_versionString"])), artifact.MuJoCoVersion, mujocoPath)
	}
	call(lib.fn["mju_setLogHandler"], logHandler())
	return lib, nil
}

// findMuJoCo returns the path of the library: that in mujocoPath, otherwise the pinned one in the cache.
func findMuJoCo(ctx context.Context, opts artifact.Options) (string, error) {
	if path := os.Getenv(mujocoPath); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s=%s: there is no such file; set it to a libmujoco %s, or unset it to download one",
				mujocoPath, path, artifact.MuJoCoVersion)
		}
		return filepath.Abs(path)
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	wheel, ok := artifact.MuJoCo[platform]
	if !ok {
		return "", fmt.Errorf("%w: mujoco-core %s is pinned for Linux on amd64 and arm64, this is %s; "+
			"set %s to a libmujoco of that release", ErrPlatform, artifact.MuJoCoVersion, platform, mujocoPath)
	}
	dir, err := artifact.CacheDir("mujoco", artifact.MuJoCoVersion+"-"+platform)
	if err != nil {
		return "", err
	}
	if _, err := wheel.Unpack(ctx, dir, opts); err != nil {
		return "", fmt.Errorf("cannot get MuJoCo: %w; or set %s to a libmujoco %s", err, mujocoPath,
			artifact.MuJoCoVersion)
	}
	return wheel.Members[0].In(dir), nil
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
