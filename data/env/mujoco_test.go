package env

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

// slider is a mass of 2 kg on a rail without friction, pushed by a motor of gear 3.
const slider = `<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="cart" pos="0 1 0">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom name="box" type="box" size=".1 .1 .1" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x" gear="3" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>`

// open returns the library.
func open(t testing.TB) *library {
	t.Helper()
	lib, err := openMuJoCo(t.Context(), artifact.Options{})
	skipWithout(t, err)
	return lib
}

func newSim(t testing.TB) *simulation {
	t.Helper()
	s, err := open(t).simulate([]byte(slider), nil)
	demand.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// Force over mass is acceleration: semi-implicit Euler gives v_n = n a h and
// x_n = a h^2 n (n + 1) / 2.
func TestStep(t *testing.T) {
	s := newSim(t)
	xpos := field(t, s, "mjb_output", "xpos")
	if len(xpos) != 6 {
		t.Fatal(xpos)
	}
	s.Ctrl[0] = 0.5
	demand.NoError(t, s.Step(7))
	const a, h = 0.5 * 3 / 2, 0.01
	if v, x := s.QVel[0], s.QPos[0]; math.Abs(v-7*a*h) > 1e-14 || math.Abs(x-a*h*h*28) > 1e-14 {
		t.Errorf("v = %v, x = %v", v, x)
	}
	if xpos[3] != s.QPos[0] || xpos[4] != 1 {
		t.Errorf("the body is at %v, the joint at %v", xpos[3:], s.QPos[0])
	}
	s.Ctrl[0] = 0
	s.state(stateApplied)[0] = -1
	s.Step(1)
	if v := s.QVel[0]; math.Abs(v-(7*a*h-h/2)) > 1e-14 {
		t.Errorf("an applied force of -1 N gives v = %v", v)
	}
	err := s.Reset()
	if err != nil || s.QPos[0] != 0 || s.QVel[0] != 0 || s.Ctrl[0] != 0 || s.state(stateApplied)[0] != 0 {
		t.Errorf("after Reset: %+v, %v", s, err)
	}
}

func TestBadModels(t *testing.T) {
	lib := open(t)
	for xml, words := range map[string]string{"": "empty", "no xml": "cannot compile",
		`<mujoco><asset><mesh file="gone.stl"/></asset></mujoco>`: "gone.stl"} {
		s, err := lib.simulate([]byte(xml), nil)
		if s != nil {
			t.Errorf("%q: a simulation together with the error %v", xml, err)
		}
		demand.Error(t, err, words)
	}
	wait := sync.WaitGroup{} // several goroutines may compile models
	for range 4 {
		wait.Go(func() {
			if s, err := lib.simulate([]byte(slider), nil); err != nil {
				t.Error(err)
			} else {
				s.Close()
			}
		})
	}
	wait.Wait()
}

// A number that is not finite is an error until Reset. MuJoCo's default is to write a log file in the working folder.
func TestNotFinite(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSim(t)
	for name, c := range map[string]struct {
		at    *float64
		value float64
		words string
	}{
		"position": {&s.QPos[0], math.NaN(), "position"},
		"velocity": {&s.QVel[0], math.Inf(1), "velocity"},
		"control":  {&s.Ctrl[0], math.NaN(), "control"},
		"force":    {&s.state(stateApplied)[0], 1e300, "acceleration"},
	} {
		*c.at = c.value
		if err := s.Step(3); !errors.Is(err, errDiverged) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Reset(); err != nil {
			t.Errorf("%s: Reset: %v", name, err)
		}
		if err := s.Step(1); err != nil || s.QPos[0] != 0 {
			t.Errorf("%s: after Reset: %v, at %v", name, err, s.QPos[0])
		}
	}
	if files, _ := filepath.Glob("*"); len(files) > 0 {
		t.Errorf("MuJoCo left %q", files)
	}
}

func TestMissingLibrary(t *testing.T) {
	t.Setenv(mujocoPath, "/no/such/libmujoco.so")
	_, err := openMuJoCo(t.Context(), artifact.Options{})
	demand.Error(t, err, "there is no such file")
	broken := filepath.Join(t.TempDir(), "libmujoco.so")
	os.WriteFile(broken, []byte("not a library"), 0o755)
	t.Setenv(mujocoPath, broken)
	_, err = openMuJoCo(t.Context(), artifact.Options{})
	demand.Error(t, err, "cannot be loaded as libmujoco")
	t.Setenv(mujocoPath, "")
	t.Setenv("TVPS_CACHE", t.TempDir())
	_, err = openMuJoCo(t.Context(), artifact.Options{NoFetch: true})
	if err == nil || !errors.Is(err, ErrPlatform) && !strings.Contains(err.Error(), "is not in") {
		t.Error(err)
	}
	demand.Error(t, err, mujocoPath)
}

// MuJoCo exits the process after an error outside a simulation, unless its log handler does
// not return. Here it becomes an error, every time and on any goroutine.
func TestFatalErrorIsCaught(t *testing.T) {
	s := newSim(t)
	wrong := func() (err error) {
		defer guard(&err, "asking for two components")
		s.state(3) // two bits: an error in MuJoCo
		return nil
	}
	for range 100 {
		done := make(chan error)
		go func() { done <- wrong() }()
		demand.Error(t, <-done, "MuJoCo reports")
		runtime.GC()
	}
	demand.NoError(t, s.Step(1))
}
