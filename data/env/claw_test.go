package env

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// Each valve turns freely: a torque of 0.5 N.m against a damping of 0.1 N.m.s/rad turns it in
// one second by nearly 0.5 (1 - (1 - e^-r) / r) / 0.1 with r = 0.1 / inertia. Masses and
// inertias about the axis are those of the reference meshes in MuJoCo 4.0.0.
func TestValvesTurnFreely(t *testing.T) {
	want := [Valves]struct{ mass, inertia float64 }{
		{0.296949, 0.001390944}, {0.646353, 0.002728689}, {0.388127, 0.001859385}, {0.476435, 0.001999938},
		{0.556791, 0.002336553}, {0.194962, 0.001137651}, {0.289331, 0.001305967}, {0.418133, 0.001591686},
		{0.413826, 0.001569664}, {0.217005, 0.001172418},
	}
	c := newClaw(t, ClawOptions{})
	for v, s := range c.sims {
		s.Reset()
		copy(s.QPos, clawStart[:])
		copy(s.Ctrl, clawStart[:])
		s.state(stateApplied)[clawJoints] = 0.5
		demand.NoError(t, s.Step(400))
		rate := 0.1 / want[v].inertia
		turn := 0.5 / 0.1 * (1 - (1-math.Exp(-rate))/rate)
		if got := s.QPos[clawJoints]; math.Abs(got-turn) > 0.002 || math.Abs(got-4.9) > 0.05 {
			t.Errorf("valve %d turns by %v rad, want %v", v, got, turn)
		}
		mass, inertia := field(t, s, "mjb_expand", "body_mass"), field(t, s, "mjb_expand", "dof_M0")
		if m := mass[len(mass)-1]; math.Abs(m-want[v].mass) > 1e-5 {
			t.Errorf("valve %d weighs %v kg, want %v", v, m, want[v].mass)
		}
		if i := inertia[clawJoints]; math.Abs(i-want[v].inertia) > 1e-6 {
			t.Errorf("valve %d has the inertia %v, want %v", v, i, want[v].inertia)
		}
	}
}

func TestClawReward(t *testing.T) {
	obs := make([]float64, clawObs)
	copy(obs, clawStart[:])
	obs[0], obs[4] = obs[0]+0.3, obs[4]-0.4  // distance 0.5
	obs[9], obs[12], obs[17] = 0.49, -3, 0.5 // 0.49 is not counted: sqrt(9.25)
	for e, bonus := range map[float64]float64{-math.Pi: 0, 0.25: 0, 0.2: 10, -0.1: 10, 0.099: 60, 0: 60} {
		obs[clawObs-1] = e
		want := -5*math.Abs(e) - 0.5 - math.Sqrt(9.25) + bonus
		if got := clawReward(obs); math.Abs(got-want) > 1e-12 {
			t.Errorf("error %v: reward %v, want %v", e, got, want)
		}
	}
	for angle, want := range map[float64]float64{
		0: -math.Pi, math.Pi: 0, math.Pi - 0.05: 0.05, 4: math.Pi - 4, -math.Pi + 0.05: -0.05,
		2*math.Pi + 3: math.Pi - 3, -6.28: -math.Pi + 6.28,
	} {
		got := clawError(angle)
		if math.Abs(math.Remainder(got-want, 2*math.Pi)) > 1e-12 || got < -math.Pi || got >= math.Pi {
			t.Errorf("at %v rad the error is %v, want %v", angle, got, want)
		}
	}
}

// At the beginning of each episode the claw is open and the valve is half a turn from its target.
func TestClawReset(t *testing.T) {
	c := newClaw(t, ClawOptions{})
	obs := make([]float64, clawObs)
	want := append(slices.Concat(clawStart[:], make([]float64, clawJoints)), 1, 0, -math.Pi)
	for episode := range 20 {
		if err := c.Reset(episode, nil, obs); err != nil || !slices.Equal(obs, want) {
			t.Errorf("episode %d begins with %v, %v", episode, obs, err)
		}
		tips := 0
		for site := range slices.Chunk(field(t, c.now, "mjb_output", "site_xpos"), 3) {
			if math.Abs(math.Hypot(site[0], site[1])-0.119) < 0.001 && math.Abs(site[2]-0.140) < 0.001 {
				tips++
			}
		}
		demand.Equal(t, tips, 3, "fingertips at radius 0.119 and height 0.140")
	}
}

// The tasks are in one order, each Repeat times, and the sequence repeats.
func TestClawOrder(t *testing.T) {
	for _, repeat := range []int{2, 25} {
		order := clawOrder(all(), 7)
		if !slices.Equal(slices.Sorted(slices.Values(order)), all()) || slices.IsSorted(order) {
			t.Errorf("the order %v is not a random one of all valves", order)
		}
		c := &Claw{repeat: repeat, order: order}
		for k, v := range append(order, order...) { // each Repeat times, and again
			if first, last := c.valveOf(k*repeat), c.valveOf(k*repeat+repeat-1); first != v || last != v {
				t.Errorf("repeat %d: task %d is valve %d to %d, want %d", repeat, k, first, last, v)
			}
		}
	}
	a, b, other := clawOrder(all(), 1), clawOrder(all(), 1), clawOrder(all(), 2)
	if !slices.Equal(a, b) || slices.Equal(a, other) {
		t.Error("the order is not a function of the seed:", a, b, other)
	}
}

func TestClawRejects(t *testing.T) {
	for _, opts := range []ClawOptions{{Repeat: 1}, {Repeat: 1, Tasks: []int{Valves}}, {Tasks: all()}} {
		_, err := NewClaw(t.Context(), opts)
		demand.Error(t, err, "give one or more of 0 to 9, for 1 or more")
	}
}
