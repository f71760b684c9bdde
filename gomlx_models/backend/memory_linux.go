//go:build !noxla

package backend

import (
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

const (
	trimThreshold = -1       // M_TRIM_THRESHOLD of mallopt(3)
	mmapThreshold = -3       // M_MMAP_THRESHOLD of mallopt(3)
	keptMemory    = 1 << 30  // value of both, in bytes
	oldGlibcKeeps = 32 << 20 // the most that glibc before 2.35 takes for the first
)

// keepMemory makes the C library keep the memory that XLA's CPU client frees after each run
// of a program, for the next run. By default it returns large arrays (at first those of more
// than 128 KiB) to the system, which clears every page again at its next use. That took a
// quarter of the time of an update of Soft Actor-Critic with context. keepMemory changes
// nothing if the environment sets MALLOC_... or GLIBC_TUNABLES, or if the C library has no
// mallopt.
var keepMemory = sync.OnceFunc(func() {
	if slices.ContainsFunc(os.Environ(), setsMalloc) {
		return
	}
	mallopt, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if err != nil {
		return
	}
	var set func(parameter, value int32) int32
	purego.RegisterFunc(&set, mallopt)
	if set(mmapThreshold, keptMemory) == 0 { // glibc before 2.35
		set(mmapThreshold, oldGlibcKeeps)
	}
	set(trimThreshold, keptMemory)
})

// setsMalloc tells whether a variable of the environment configures the C library's malloc.
func setsMalloc(variable string) bool {
	return strings.HasPrefix(variable, "MALLOC_") || strings.HasPrefix(variable, "GLIBC_TUNABLES=")
}

// threadPerDevice makes XLA's CPU clients start as many threads as they have devices: a client starts the larger of
// their number and the variable, by default the number of processors. It is set for the plugin alone, not for programs
// that this one starts.
var threadPerDevice = sync.OnceFunc(func() {
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return
	}
	var set func(name, value string, overwrite int32) int32
	purego.RegisterFunc(&set, setenv)
	set(processorsEnv, "1", 1)
})
