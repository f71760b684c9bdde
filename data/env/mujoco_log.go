package env

import (
	"fmt"
	"sync"

	"github.com/ebitengine/purego"
)

// logMessage is the beginning of MuJoCo's mjLogMessage.
type logMessage struct {
	level   int32
	_       int32 // topic
	subject [1024]byte
}

// logError is the level of a message after which MuJoCo exits the process, if the handler
// returns.
const logError = 3

// fatal is an error that MuJoCo raised outside a simulation.
type fatal string

// logHandler is the address of the C function that receives MuJoCo's messages. MuJoCo's own
// handler would write them to the screen and to MUJOCO_LOG.TXT. This one ignores warnings,
// which a simulation counts. For an error outside a simulation it panics with a fatal, which
// guard turns into an error. Errors in a simulation do not reach it.
var logHandler = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(m *logMessage) uintptr {
		if m.level >= logError {
			panic(fatal(untilZero(m.subject[:])))
		}
		return 0
	})
})

// guard is deferred by functions that call MuJoCo: it recovers a fatal and sets *err.
func guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case fatal:
		*err = fmt.Errorf("%s: MuJoCo reports: %s", doing, string(r))
	default:
		panic(r)
	}
}
