package env

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

var update = flag.Bool("update", false, "write testdata/trajectories.json again, with TVPS_PYTHON")

// trajectory is an episode in the output of testdata/trajectories.py.
type trajectory struct {
	Name       string
	Episode    int // or the claw's valve
	QPos, QVel []float64
	Obs        [][]float64
	Rewards    []float64
}

const stored = "testdata/trajectories.json"

// The robots reproduce stored trajectories of Python's MuJoCo. On another processor or with
// another C library the last digits may differ, and the difference grows with time.
func TestStoredTrajectories(t *testing.T) {
	compare(t, demand.Read(t, stored), 1e-6)
}

// The robots reproduce trajectories that Python computes on this machine, bit for bit.
// TVPS_PYTHON names a Python that has mujoco and gymnasium, or with which a virtual
// environment with them can be created.
func TestPythonTrajectories(t *testing.T) {
	python := os.Getenv("TVPS_PYTHON")
	if python == "" {
		t.Skip("TVPS_PYTHON is not set")
	}
	python = withMuJoCo(t, python)
	dir := t.TempDir()
	writeModels(t, dir)
	script, err := filepath.Abs("testdata/trajectories.py")
	demand.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, script, dir)
	cmd.Dir = dir // where Python's MuJoCo writes its log
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	compare(t, out, 0)
	if *update {
		demand.NoError(t, os.WriteFile(stored, append(out, '\n'), 0o644))
	}
}

// withMuJoCo returns python, or a Python in a new virtual environment, that has the pinned
// releases of mujoco and gymnasium.
func withMuJoCo(t *testing.T, python string) string {
	check := "import mujoco, gymnasium, imageio\n" +
		`assert mujoco.__version__ == "4.0.0" and gymnasium.__version__ == "1.4.0"`
	if exec.Command(python, "-c", check).Run() == nil {
		return python
	}
	dir := t.TempDir()
	inside := filepath.Join(dir, "bin", "python")
	for _, args := range [][]string{
		{python, "-m", "venv", dir},
		{inside, "-m", "pip", "install", "-q", "mujoco==4.0.0", "gymnasium==1.4.0", "imageio", "packaging"},
		{inside, "-c", check},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("Python's MuJoCo cannot be installed: %q: %v\n%s", args, err, out)
		}
	}
	return inside
}

// writeModels writes the models for testdata/trajectories.py to a folder.
func writeModels(t *testing.T, dir string) {
	files := map[string][]byte{}
	xml, err := cheetahXML(t.Context(), CheetahOptions{})
	skipWithout(t, err)
	files["cheetah.xml"] = xml
	scene, err := readWheel(t.Context(), artifact.ROBEL, nil)
	demand.NoError(t, err)
	for _, v := range []int{1, 4, 9} {
		xml, assets, err := clawModel(scene, v)
		demand.NoError(t, err)
		files["claw-"+strconv.Itoa(v)+".xml"] = xml
		maps.Copy(files, assets)
	}
	for name, data := range files {
		demand.Write(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
}

// compare replays the trajectories. Rewards, and observations that are not part of MuJoCo's
// state, may differ in the last digits: numpy rounds cosines and norms differently.
func compare(t *testing.T, data []byte, tolerance float64) {
	t.Helper()
	var list []trajectory
	demand.NoError(t, json.NewDecoder(bytes.NewReader(data)).Decode(&list))
	if len(list) != 5 {
		t.Fatalf("%d trajectories instead of 5", len(list))
	}
	for _, want := range list {
		env, begin := replayed(t, want)
		_, size, _ := env.Sizes()
		obs, action := make([]float64, len(want.Obs[0])), make([]float64, size)
		begin(obs)
		for step, reward := range want.Rewards {
			near(t, want.Name, step, obs, want.Obs[step], tolerance)
			if wave(step, action); want.Name == "claw" {
				wave(step/4, action)
			}
			got, err := env.Step(action, obs)
			if err != nil || math.Abs(got-reward) > 1e-12+tolerance {
				t.Fatalf("%s %d, step %d: reward %v, Python has %v, %v", want.Name, want.Episode, step, got, reward, err)
			}
		}
		near(t, want.Name, len(want.Rewards), obs, want.Obs[len(want.Rewards)], tolerance)
	}
}

// replayed returns the robot of a trajectory and a function that begins its episode.
func replayed(t *testing.T, want trajectory) (Env, func(obs []float64)) {
	if want.Name == "claw" {
		c := newClaw(t, ClawOptions{Tasks: []int{want.Episode}})
		return c, func(obs []float64) {
			demand.NoError(t, c.Reset(0, nil, obs))
		}
	}
	c := newCheetah(t, CheetahOptions{Plain: want.Name == "plain"})
	return c, func(obs []float64) {
		c.sim.Reset()
		copy(c.sim.QPos, want.QPos)
		copy(c.sim.QVel, want.QVel)
		wind, target := c.conditions(want.Episode)
		demand.NoError(t, c.begin(wind, target, obs))
	}
}

func near(t *testing.T, name string, step int, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		allowed := tolerance
		if name == "claw" && i >= 2*clawJoints { // cosine, sine, error
			allowed += 1e-15 * 4
		}
		if math.Abs(got[i]-want[i]) > allowed*(1+math.Abs(want[i])) {
			t.Fatalf("%s, step %d, number %d of the observation: %v, Python has %v", name, step, i, got[i], want[i])
		}
	}
}
