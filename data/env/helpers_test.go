package env

import (
	"cmp"
	"errors"
	"testing"
	"unsafe"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

// skipWithout skips the test if err says that MuJoCo or a model is not available here.
func skipWithout(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrPlatform) || errors.Is(err, artifact.ErrNetwork) {
		t.Skip(err)
	}
	demand.NoError(t, err)
}

// newCheetah returns a Half-Cheetah, by default with episodes as long as the paper's.
func newCheetah(t testing.TB, opts CheetahOptions) *Cheetah {
	t.Helper()
	opts.Horizon = cmp.Or(opts.Horizon, 50)
	c, err := NewCheetah(t.Context(), opts)
	skipWithout(t, err)
	t.Cleanup(c.Close)
	return c
}

// all lists the valves.
func all() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9} }

// newClaw returns a D'Claw, by default with the paper's episodes and all valves.
func newClaw(t testing.TB, opts ClawOptions) *Claw {
	t.Helper()
	opts.Horizon, opts.Repeat = cmp.Or(opts.Horizon, 40), cmp.Or(opts.Repeat, 2)
	if opts.Tasks == nil {
		opts.Tasks = all()
	}
	c, err := NewClaw(t.Context(), opts)
	skipWithout(t, err)
	t.Cleanup(c.Close)
	return c
}

// field returns a field of floating-point numbers: of mjData by mjb_output, or the simulation's own copy of one of
// mjModel by mjb_expand, after which its steps are slower.
func field(t testing.TB, s *simulation, function, name string) []float64 {
	t.Helper()
	path, err := findMuJoCo(t.Context(), artifact.Options{})
	demand.NoError(t, err)
	handle, err := openLibrary(path)
	demand.NoError(t, err)
	fn, err := findSymbol(handle, function)
	demand.NoError(t, err)
	text, size, bytes := cString(name), int32(0), int32(0)
	address := call(fn, s.address, uintptr(unsafe.Pointer(&text[0])),
		uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&bytes)))
	if address == 0 || bytes != 8 {
		t.Fatalf("MuJoCo has no field %q of floating-point numbers", name)
	}
	return unsafe.Slice((*float64)(pointer(address)), size)
}

// stateApplied is the component of a state with the external forces and torques on the joints, N or N.m.
const stateApplied = 1 << 7

// both returns one robot of each kind.
func both(t testing.TB) map[string]Env {
	return map[string]Env{
		"cheetah": newCheetah(t, CheetahOptions{}),
		"claw":    newClaw(t, ClawOptions{Tasks: []int{0, 4, 9}}),
	}
}

// wave sets an action to numbers in [-1, 1] that change from step to step. The function
// action in testdata/trajectories.py returns the same numbers.
func wave(step int, action []float64) {
	for j := range action {
		action[j] = float64((7*step+5*j+3*step*j)%11-5) / 5
	}
}
