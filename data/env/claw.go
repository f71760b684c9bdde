package env

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/artifact"
	"tvps/data/random"
)

// ClawOptions chooses the sequence of valves.
type ClawOptions struct {
	Log     io.Writer // progress of downloads; nil for none
	Repeat  int       // consecutive episodes of each task
	Tasks   []int     // valves to use, from 0 to Valves - 1
	Seed    int64     // of the order of the valves
	Horizon int       // steps per episode
}

// Claw is the ROBEL D'Claw (Section 3.2, after Yang et al.): three fingers of three joints
// must turn a valve by half a turn. The task is one of ten valves. The valves are in one
// random order; each is used for Repeat episodes before the next, and the sequence repeats.
//
// The reward, with the valve's error e and the joints' angles q and velocities w, is
//
//	-5 |e| - |q - q0| - |those w with |w| >= 0.5| + 10 [|e| < 0.25] + 50 [|e| < 0.1]
//
// An observation has 21 numbers: q (9), w (9), cosine and sine of the valve's angle, and e.
// An action has 9: the target angles of the joints, in units of 0.48, pi/3 and pi/2 rad for
// each finger; a target is at most 0.1 pi rad from the present angle. A step is 40 time steps
// of 0.0025 s. Every episode of a valve begins in the same state, except for the second trial of an evaluation.
type Claw struct {
	order   []int
	repeat  int
	horizon int
	sims    [Valves]*simulation // nil for valves that are not used
	now     *simulation
	action  [clawJoints]float64
}

const (
	clawJoints = 9
	clawObs    = 2*clawJoints + 3
	clawSkip   = 40
	clawTarget = math.Pi // target angle of the valve, rad

	// clawSuccess is the valve's error in rad below which an episode is successful.
	clawSuccess = 0.1
)

// pi is a variable so that pi/3 is a division of rounded numbers, as in Python. Go evaluates
// constant expressions exactly.
var pi = math.Pi

// clawReach is the largest distance of a joint's target from its angle, rad.
var clawReach = 0.1 * pi

// clawScale is the range of each joint's target and clawStart its angle at the start, rad.
var (
	clawScale = [clawJoints]float64{.48, pi / 3, pi / 2, .48, pi / 3, pi / 2, .48, pi / 3, pi / 2}
	clawStart = [clawJoints]float64{0, -pi / 3, pi / 3, 0, -pi / 3, pi / 3, 0, -pi / 3, pi / 3}
)

// NewClaw returns a D'Claw. It downloads MuJoCo and the robot's model if they are missing. Errors: no Tasks or
// impossible ones, no Repeat, and those of downloads and of MuJoCo.
func NewClaw(ctx context.Context, opts ClawOptions) (*Claw, error) {
	if len(opts.Tasks) == 0 || slices.Min(opts.Tasks) < 0 || slices.Max(opts.Tasks) >= Valves || opts.Repeat < 1 {
		return nil, fmt.Errorf("env: valves %v, each for %d episodes; give one or more of 0 to %d, for 1 or more", opts.Tasks,
			opts.Repeat, Valves-1)
	}
	order := clawOrder(opts.Tasks, opts.Seed)
	c := &Claw{order: order, repeat: opts.Repeat, horizon: opts.Horizon}
	lib, err := openMuJoCo(ctx, artifact.Options{Log: opts.Log})
	if err != nil {
		return nil, err
	}
	files, err := readWheel(ctx, artifact.ROBEL, opts.Log)
	if err != nil {
		return nil, err
	}
	for _, v := range order {
		if c.sims[v], err = newClawSim(lib, files, v); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.now = c.sims[order[0]]
	return c, nil
}

// clawOrder returns the tasks in the random order of a seed.
func clawOrder(tasks []int, seed int64) []int {
	order := make([]int, len(tasks))
	for i, k := range random.New(seed, "order of the valves").Perm(len(tasks)) {
		order[i] = tasks[k]
	}
	return order
}

// Sizes returns 21, 9 and the horizon.
func (c *Claw) Sizes() (observation, action, horizon int) { return clawObs, clawJoints, c.horizon }

// valveOf returns the number of an episode's valve, from 0.
func (c *Claw) valveOf(episode int) int { return c.order[episode/c.repeat%len(c.order)] }

// Reset begins an episode with its valve. It does not use rng.
func (c *Claw) Reset(episode int, _ *rand.Rand, obs []float64) error {
	return c.begin(c.valveOf(episode), clawStart, obs)
}

// begin begins an episode of a valve with the joints at these angles.
func (c *Claw) begin(valve int, joints [clawJoints]float64, obs []float64) error {
	c.now = c.sims[valve]
	if err := c.now.Reset(); err != nil {
		return err
	}
	copy(c.now.QPos, joints[:])
	if err := c.now.Forward(); err != nil {
		return err
	}
	c.observe(obs)
	return nil
}

// Step advances the simulation by 0.1 s.
func (c *Claw) Step(action, obs []float64) (reward float64, err error) {
	if err := clip(c.action[:], action); err != nil {
		return 0, err
	}
	s := c.now
	for i, a := range c.action {
		s.Ctrl[i] = s.QPos[i] + min(max(a*clawScale[i]-s.QPos[i], -clawReach), clawReach)
	}
	if err := s.Step(clawSkip); err != nil {
		return 0, err
	}
	c.observe(obs)
	return clawReward(obs), nil
}

func (c *Claw) observe(obs []float64) {
	s, angle := c.now, c.now.QPos[clawJoints]
	copy(obs, s.QPos[:clawJoints])
	copy(obs[clawJoints:], s.QVel[:clawJoints])
	obs[2*clawJoints], obs[2*clawJoints+1] = math.Cos(angle), math.Sin(angle)
	obs[clawObs-1] = clawError(angle)
}

// clawError returns the target minus the angle, wrapped to [-pi, pi).
func clawError(angle float64) float64 {
	e := math.Mod(clawTarget-angle+math.Pi, 2*math.Pi)
	if e < 0 {
		e += 2 * math.Pi
	}
	return e - math.Pi
}

// clawReward returns the reward of an observation.
func clawReward(obs []float64) float64 {
	distance, speed := 0.0, 0.0
	for i, q := range obs[:clawJoints] {
		distance += (q - clawStart[i]) * (q - clawStart[i])
	}
	for _, w := range obs[clawJoints : 2*clawJoints] {
		if math.Abs(w) >= 0.5 {
			speed += w * w
		}
	}
	e := math.Abs(obs[clawObs-1])
	reward := -5*e - math.Sqrt(distance) - math.Sqrt(speed)
	if e < 0.25 {
		reward += 10
	}
	if e < 0.1 {
		reward += 50
	}
	return reward
}

// Success says whether the valve is within clawSuccess of its target.
func (c *Claw) Success() bool { return math.Abs(clawError(c.now.QPos[clawJoints])) < clawSuccess }

// Close frees the simulations.
func (c *Claw) Close() {
	for _, s := range c.sims {
		if s != nil {
			s.Close()
		}
	}
}
