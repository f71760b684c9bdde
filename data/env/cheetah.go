package env

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"tvps/data/artifact"
)

// CheetahOptions chooses between the paper's task and gymnasium's.
type CheetahOptions struct {
	Log     io.Writer // progress of downloads; nil for none
	Plain   bool      // gymnasium's HalfCheetah-v5: no wind, reward for velocity
	Horizon int       // steps per episode
}

// Cheetah is Half-Cheetah WindVel (Section 3.2, after Xie et al.): a two-legged runner in the
// plane must keep a target velocity in a wind along its direction of motion, x. Wind and
// target are constant in an episode and change with its number i:
//
//	wind   = 10 sin(0.2 i) N
//	target = 1.5 + 1.5 sin(0.5 i) m/s
//
// The reward is -|v - target| - 0.05 |a|^2, with v the torso's velocity after the step. With
// Plain it is that of gymnasium's HalfCheetah-v5: mean velocity during the step - 0.1 |a|^2.
//
// An observation has 17 numbers: the positions of the joints except x (8) and all velocities
// (9). An action has 6: torques in units of each motor's gear. A step is 5 time steps of
// 0.01 s. Episodes end only at the horizon.
type Cheetah struct {
	plain   bool
	horizon int
	sim     *simulation
	action  [6]float64
	wind    float64 // N
	target  float64 // m/s
}

const (
	cheetahJoints = 9
	cheetahObs    = 2*cheetahJoints - 1
	cheetahSkip   = 5
	cheetahDelta  = cheetahSkip * 0.01 // duration of a step, s
)

// windMotor applies its control as a force on the torso along x, in newtons.
const windMotor = `<motor name="wind" joint="rootx" gear="1" ctrllimited="true" ctrlrange="-50 50"/>`

// NewCheetah returns a Half-Cheetah. It downloads MuJoCo and the model if they are missing.
func NewCheetah(ctx context.Context, opts CheetahOptions) (*Cheetah, error) {
	lib, err := openMuJoCo(ctx, artifact.Options{Log: opts.Log})
	if err != nil {
		return nil, err
	}
	xml, err := cheetahXML(ctx, opts)
	if err != nil {
		return nil, err
	}
	sim, err := lib.simulate(xml, nil)
	if err != nil {
		return nil, fmt.Errorf("the Half-Cheetah: %w", err)
	}
	return &Cheetah{plain: opts.Plain, horizon: opts.Horizon, sim: sim}, nil
}

// cheetahXML returns gymnasium's model, unless Plain with the wind as a seventh motor.
func cheetahXML(ctx context.Context, opts CheetahOptions) ([]byte, error) {
	files, err := readWheel(ctx, artifact.Gymnasium, opts.Log)
	if err != nil {
		return nil, err
	}
	xml := files["half_cheetah.xml"]
	if opts.Plain {
		return xml, nil
	}
	end := []byte("</actuator>")
	return bytes.Replace(xml, end, append([]byte(windMotor), end...), 1), nil
}

// conditions returns the wind (N) and the target velocity (m/s) of an episode.
func (c *Cheetah) conditions(episode int) (wind, target float64) {
	if c.plain {
		return 0, 0
	}
	i := float64(episode)
	return 10 * math.Sin(0.2*i), 1.5 + 1.5*math.Sin(0.5*i)
}

// Sizes returns 17, 6 and the horizon.
func (c *Cheetah) Sizes() (observation, action, horizon int) { return cheetahObs, 6, c.horizon }

// Reset begins an episode at rest with gymnasium's noise: uniform in [-0.1, 0.1] on the
// positions, normal with standard deviation 0.1 on the velocities.
func (c *Cheetah) Reset(episode int, rng *rand.Rand, obs []float64) error {
	if err := c.disturb(rng); err != nil {
		return err
	}
	wind, target := c.conditions(episode)
	return c.begin(wind, target, obs)
}

// disturb sets the runner to rest with noise.
func (c *Cheetah) disturb(rng *rand.Rand) error {
	if err := c.sim.Reset(); err != nil {
		return err
	}
	for i := range c.sim.QPos {
		c.sim.QPos[i] += 0.2*rng.Float64() - 0.1
	}
	for i := range c.sim.QVel {
		c.sim.QVel[i] = 0.1 * rng.NormFloat64()
	}
	return nil
}

// begin begins an episode at the present positions and velocities, in a wind (N) with a target (m/s).
func (c *Cheetah) begin(wind, target float64, obs []float64) error {
	c.wind, c.target = wind, target
	if err := c.sim.Forward(); err != nil {
		return err
	}
	c.observe(obs)
	return nil
}

// Step advances the simulation by 0.05 s.
func (c *Cheetah) Step(action, obs []float64) (reward float64, err error) {
	if err := clip(c.action[:], action); err != nil {
		return 0, err
	}
	copy(c.sim.Ctrl, c.action[:])
	if !c.plain {
		c.sim.Ctrl[6] = c.wind
	}
	before := c.sim.QPos[0]
	if err := c.sim.Step(cheetahSkip); err != nil {
		return 0, err
	}
	c.observe(obs)
	if c.plain {
		return (c.sim.QPos[0]-before)/cheetahDelta - 0.1*squares(c.action[:]), nil
	}
	return -math.Abs(c.sim.QVel[0]-c.target) - 0.05*squares(c.action[:]), nil
}

func (c *Cheetah) observe(obs []float64) {
	obs = obs[:cheetahObs]
	copy(obs, c.sim.QPos[1:])
	copy(obs[cheetahJoints-1:], c.sim.QVel)
}

// Close frees the simulation.
func (c *Cheetah) Close() { c.sim.Close() }

// squares returns the sum of squares.
func squares(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}
