//go:build !noxla

package backend

import (
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// Parameters of mallopt(3), and the most that is kept, in bytes.
const (
	trimThreshold = -1
	mmapThreshold = -3
	keptMemory    = 1 << 30
)

// keepMemory makes the C library keep the memory that XLA's CPU client frees after every
// run of a program, for the next run. By default it gives arrays of more than 128 KiB
// back to the system, which then clears each page anew when it is touched: a quarter of
// the time of an update of Soft Actor-Critic with context. Whoever sets MALLOC_... or
// GLIBC_TUNABLES knows better, and a C library without mallopt stays as it is.
var keepMemory = sync.OnceFunc(func() {
	if slices.ContainsFunc(os.Environ(), setsMemory) {
		return
	}
	mallopt, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if err != nil {
		return
	}
	var set func(parameter, value int32) int32
	purego.RegisterFunc(&set, mallopt)
	set(mmapThreshold, keptMemory)
	set(trimThreshold, keptMemory)
})

// setsMemory tells whether a variable of the environment says how memory is kept.
func setsMemory(variable string) bool {
	return strings.HasPrefix(variable, "MALLOC_") || strings.HasPrefix(variable, "GLIBC_TUNABLES=")
}
