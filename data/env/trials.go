package env

import (
	"fmt"
	"math"
	"slices"

	"tvps/data/random"
)

// clawStarts is the number of starts of each valve. A second one with the same start would be a copy, since the
// simulation is deterministic.
const clawStarts = 2

// clawDisturbance is the largest change of a joint's angle in the second start, rad. It keeps the fingers clear of
// every valve.
const clawDisturbance = 0.1

// Trials lists each valve twice, in the order of their numbers: first from the start of every training episode, then
// with joints that are disturbed.
func (c *Claw) Trials() (tasks []string) {
	for _, v := range slices.Sorted(slices.Values(c.order)) {
		for range clawStarts {
			tasks = append(tasks, fmt.Sprint("valve-", v))
		}
	}
	return tasks
}

// checkTrial returns an error for a trial that a robot does not have.
func checkTrial(e Env, trial int) error {
	if n := len(e.Trials()); trial < 0 || trial >= n {
		return fmt.Errorf("env: trial %d of %d; they are numbered from 0", trial, n)
	}
	return nil
}

// ResetTrial begins a trial. In a second start each joint's angle is changed by a uniform draw from
// [-clawDisturbance, clawDisturbance].
func (c *Claw) ResetTrial(trial int, obs []float64) error {
	if err := checkTrial(c, trial); err != nil {
		return err
	}
	used := slices.Sorted(slices.Values(c.order))
	valve, joints := used[trial/clawStarts], clawStart
	if start := trial % clawStarts; start > 0 {
		rng := random.New(0, "claw", "start", valve, start)
		for i := range joints {
			joints[i] += clawDisturbance * (2*rng.Float64() - 1)
		}
	}
	return c.begin(valve, joints, obs)
}

// Rest writes the action that holds the joints at their angles of the start.
func (c *Claw) Rest(action []float64) {
	for i := range action {
		action[i] = clawStart[i] / clawScale[i]
	}
}

// Script writes the action of a scripted policy, which sees the observation as agents do. In a period of 8 steps the
// fingers are open for 2 and move to one side, close for 2, turn the valve to the other side for 3, and open for 1.
// While the valve is within 0.25 rad of its target they stay open.
func (c *Claw) Script(step int, obs, action []float64) {
	const period, side, grip = 8, 1, 0.2
	phase := step % period
	for f := 0; f < clawJoints; f += 3 {
		action[f], action[f+1], action[f+2] = side, -1, 2./3
		if phase >= period/4 && phase <= period*3/4 {
			action[f+1], action[f+2] = grip, 0
		}
		if phase >= period/2 {
			action[f] = -side
		}
		if math.Abs(obs[clawObs-1]) < 0.25 {
			action[f], action[f+1], action[f+2] = 0, -1, 2./3
		}
	}
}

// nodes are the sines of the middles of four equal parts of a half period: the Chebyshev nodes.
var nodes = [4]float64{
	math.Cos(math.Pi / 8), math.Cos(3 * math.Pi / 8), math.Cos(5 * math.Pi / 8), math.Cos(7 * math.Pi / 8),
}

// Trials lists 16 tasks: each of four winds with each of four targets,
//
//	wind = 10 z N, target = 1.5 + 1.5 z' m/s, z and z' in cos((2k-1) pi/8), k = 1..4.
//
// With these nodes the mean over tasks is the Gauss-Chebyshev quadrature of the mean over the phases of wind and
// target, each of which training meets equally often. Three nodes would underestimate the mean of |target - 1.5| by 9%,
// four overestimate it by 3%. An episode of training comes within 0.16 of each (z, z') in every 126. With Plain there
// is one task from two starts.
func (c *Cheetah) Trials() (tasks []string) {
	if c.plain {
		return []string{"run", "run"}
	}
	for k := range len(nodes) * len(nodes) {
		wind, target := gridConditions(k)
		tasks = append(tasks, fmt.Sprintf("wind%+.1f-target%.1f", wind, target))
	}
	return tasks
}

// gridConditions returns the wind (N) and the target (m/s) of a trial.
func gridConditions(trial int) (wind, target float64) {
	return 10 * nodes[trial/len(nodes)], 1.5 + 1.5*nodes[trial%len(nodes)]
}

// ResetTrial begins a trial at rest with gymnasium's noise, drawn from a fixed seed.
func (c *Cheetah) ResetTrial(trial int, obs []float64) error {
	if err := checkTrial(c, trial); err != nil {
		return err
	}
	if err := c.disturb(random.New(0, "cheetah", "start", trial)); err != nil {
		return err
	}
	if c.plain {
		return c.begin(0, 0, obs)
	}
	wind, target := gridConditions(trial)
	return c.begin(wind, target, obs)
}

// Rest writes the action without torques.
func (c *Cheetah) Rest(action []float64) { clear(action) }

// Constant returns the return of a runner at a constant 1.5 m/s, the mean target, without torques in the task of the
// present episode:
//
//	-horizon |1.5 - target|
//
// No policy reaches it, as running takes torques. It shows what can be had without knowing the target.
func (c *Cheetah) Constant() float64 { return -float64(c.horizon) * math.Abs(1.5-c.target) }
