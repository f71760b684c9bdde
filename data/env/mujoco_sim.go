package env

import (
	"errors"
	"fmt"
	"unsafe"
)

// simulation is one simulation of a model. It is not safe for concurrent use, but several may
// run in parallel, each on its own goroutine. The slices are in MuJoCo's memory. They stay
// valid until Close and must not be used after it.
type simulation struct {
	QPos []float64 // positions of the joints, m or rad; may be written
	QVel []float64 // velocities of the joints, m/s or rad/s; may be written
	Ctrl []float64 // inputs of the actuators; may be written

	lib      *library
	address  uintptr    // mjBatch* of one simulation
	warnings []int32    // for each kind of warning the last detail and the count
	step     [5]uintptr // arguments of mjb_step, stored so that a step allocates no memory
}

// Bits of the components of a state (mjtState).
const (
	stateQPos = 1 << 1
	stateQVel = 1 << 2
	stateCtrl = 1 << 6
)

// Stages of a computation (mjtStage).
const (
	stageNone         = 0
	stageVelocity     = 2 // up to all that depends on positions and velocities
	stageAcceleration = 3 // also forces and accelerations
)

// warnings are the kinds of warning that MuJoCo counts (mjtWarning).
var warnings = []string{
	"the inertia matrix is singular", "there are too many contacts", "there are too many constraints",
	"a position is not finite or too large", "a velocity is not finite or too large",
	"an acceleration is not finite or too large: the simulation has diverged", "a control is not finite or too large",
}

// errDiverged is returned after a warning of MuJoCo, such as a number that is not finite. The
// state is then invalid until the next Reset.
var errDiverged = errors.New("the simulation failed")

// start starts a simulation of a model in its default state.
func (l *library) start(model uintptr) (s *simulation, err error) {
	defer func() {
		if err != nil && s != nil {
			s.Close()
			s = nil
		}
	}()
	defer guard(&err, "starting a simulation")
	config := struct {
		threads    int32
		persistent bool
	}{1, true}
	message := make([]byte, 1024)
	address := call(l.fn["mjb_makeBatch"], model, 1, uintptr(unsafe.Pointer(&config)),
		uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)))
	if address == 0 {
		return nil, fmt.Errorf("MuJoCo cannot simulate the model: %s", oneLine(untilZero(message)))
	}
	s = &simulation{lib: l, address: address, step: [5]uintptr{address, 0, 0, 0, stageVelocity}}
	s.QPos, s.QVel, s.Ctrl = s.state(stateQPos), s.state(stateQVel), s.state(stateCtrl)
	s.warnings = unsafe.Slice((*int32)(pointer(call(l.fn["mjb_warning"], address))), 2*len(warnings))
	return s, s.Reset()
}

// state returns a component of the state.
func (s *simulation) state(component uintptr) []float64 {
	var size int32
	address := call(s.lib.fn["mjb_stateComponent"], s.address, component, uintptr(unsafe.Pointer(&size)))
	return unsafe.Slice((*float64)(pointer(address)), size)
}

// Reset sets the model's default state. To start from another state, then write QPos and
// QVel and call Forward.
func (s *simulation) Reset() error {
	return s.check(call(s.lib.fn["mjb_reset"], s.address, 0, 0, 0, stageNone))
}

// Forward computes forces and accelerations at the present state without advancing time.
func (s *simulation) Forward() error {
	return s.check(call(s.lib.fn["mjb_forward"], s.address, 0, 0, stageAcceleration))
}

// Step advances the simulation by n time steps with the present controls. It returns
// errDiverged if a state or control is not finite. It allocates no memory.
func (s *simulation) Step(n int) error {
	s.step[3] = uintptr(n)
	return s.check(call(s.lib.fn["mjb_step"], s.step[:]...))
}

// check returns an error if a call failed or if there was a warning since the last Reset.
// After some warnings MuJoCo itself would continue from the default state.
func (s *simulation) check(failed uintptr) error {
	if int32(failed) != 0 {
		return fmt.Errorf("MuJoCo reports: %s", oneLine(goString(call(s.lib.fn["mjb_error"], s.address, 0))))
	}
	for i, text := range warnings {
		if s.warnings[2*i+1] != 0 {
			return fmt.Errorf("%w: %s", errDiverged, text)
		}
	}
	return nil
}

// Close frees the simulation. A second call does nothing.
func (s *simulation) Close() {
	if s.lib == nil {
		return
	}
	call(s.lib.fn["mjb_deleteBatch"], s.address)
	*s = simulation{}
}
