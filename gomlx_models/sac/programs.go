package sac

import (
	"fmt"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// programs holds the networks' parameters and what is compiled for them, for one Config
// and number of seeds.
type programs struct {
	cfg   Config
	seeds int

	actor, critic, alpha, g []net.Param // alpha and g are empty where they do not exist

	acting   *Exec // (observation, noise, steps, actor) -> actions
	updating *Exec // (step, store, rows, noise, omega, window, variables) -> metrics, variables
	fitting  *Exec // (step, store, rows, t2, t1, z, now, mean, scale, g) -> loss, g
	weighing *Exec // (store, rows, t, now, mean, scale, g) -> omega
}

func shapeOf(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

// newPrograms declares the networks. The programs compile at their first call.
func newPrograms(backend compute.Backend, cfg Config, seeds int) (*programs, error) {
	p := &programs{cfg: cfg, seeds: seeds}
	if err := p.declare(backend); err != nil {
		return nil, fmt.Errorf("sac: %w", err)
	}
	for _, program := range []struct {
		name  string
		exec  **Exec
		build func(in []*Node) []*Node
	}{{"act", &p.acting, p.actGraph}, {"update", &p.updating, p.updateGraph},
		{"fit omega", &p.fitting, p.fitGraph}, {"omega", &p.weighing, p.weighGraph}} {
		exec, err := NewExec(backend, program.build)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("sac: %w", err)
		}
		*program.exec = exec.WithName("sac " + program.name)
	}
	return p, nil
}

func (p *programs) close() {
	for _, exec := range []*Exec{p.acting, p.updating, p.fitting, p.weighing} {
		if exec != nil {
			exec.Finalize()
		}
	}
}

// declare walks through every network once.
func (p *programs) declare(backend compute.Backend) (err error) {
	c := p.cfg
	observation, action := shapeOf(p.seeds, 1, c.Observations), shapeOf(p.seeds, 1, c.Actions)
	steps := shapeOf(p.seeds, 1, 1, c.stepWidth())
	p.actor, err = net.Declare(backend, []shapes.Shape{observation, steps}, func(s *net.Scope, in []*Node) { p.actorNet(s, in[0], in[1]) })
	if err != nil {
		return err
	}
	p.critic, err = net.Declare(backend, []shapes.Shape{observation, action, steps}, func(s *net.Scope, in []*Node) { p.criticNet(s, in[0], in[1], in[2]) })
	if err != nil {
		return err
	}
	if c.LearnAlpha {
		if p.alpha, err = net.Declare(backend, nil, func(s *net.Scope, _ []*Node) { p.alphaNet(s) }); err != nil {
			return err
		}
	}
	if c.Omega != nil {
		p.g, err = p.declareG(backend)
	}
	return err
}

// actGraph takes observation [seeds, 1, observations], noise [seeds, 1, actions], with
// context the steps [seeds, history, 1, step], and the actor; it returns the actions.
func (p *programs) actGraph(in []*Node) []*Node {
	observation, noise, rest := in[0], in[1], in[2:]
	steps, values := p.optional(rest)
	action, _ := p.act(values, observation, steps, noise)
	return []*Node{action}
}

// optional takes the window of the context from the front of a list of inputs.
func (p *programs) optional(in []*Node) (window *Node, rest []*Node) {
	if p.cfg.Context == nil {
		return nil, in
	}
	return in[0], in[1:]
}

func (p *programs) updateGraph(in []*Node) []*Node {
	step, store, rows, noise, omega, rest := in[0], in[1], in[2], in[3], in[4], in[5:]
	window, state := p.optional(rest)
	if window != nil {
		window = p.cfg.gatherSteps(store, window)
	}
	b := p.cfg.unpack(gather(store, rows, p.cfg.rowWidth()), window)
	next, metrics := p.update(p.unlist(state), b, noise, omega, step)
	return append([]*Node{metrics}, next.list()...)
}
