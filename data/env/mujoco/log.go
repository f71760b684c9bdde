package mujoco

import (
	"fmt"
	"sync"

	"github.com/ebitengine/purego"
)

// logMessage is the head of MuJoCo's mjLogMessage.
type logMessage struct {
	level, topic int32
	subject      [1024]byte
}

// logError is the level of messages after which MuJoCo ends the process if the handler
// returns.
const logError = 3

// fatal is an error that MuJoCo raised outside a simulation.
type fatal string

// logHandler is the address of a C function that takes MuJoCo's messages in place of its
// own, which would write to the screen and to MUJOCO_LOG.TXT. Warnings need no message:
// a simulation counts them. An error outside a simulation leaves the C code as a panic of
// type fatal, which guard turns into an error; errors in a simulation do not come here.
var logHandler = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(m *logMessage) uintptr {
		if m.level >= logError {
			panic(fatal(untilZero(m.subject[:])))
		}
		return 0
	})
})

// guard makes *err of an error that MuJoCo raised in a call.
func guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case fatal:
		*err = fmt.Errorf("%s: MuJoCo says: %s", doing, string(r))
	default:
		panic(r)
	}
}
