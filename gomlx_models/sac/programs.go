package sac

import (
	"fmt"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// programs holds the networks' parameters and compiled programs, for one Config and number
// of batched seeds.
type programs struct {
	cfg   Config
	seeds int

	actor, critic, alpha, g []net.Param // alpha and g are empty if there is none

	acting   *Exec // (observation, noise, steps, actor) -> actions
	updating *Exec // (number, what Agent.draw draws, omega, variables) -> metrics, variables
	fitting  *Exec // (number, steps, t2, t1, z, last fit, g) -> loss, g
	weighing *Exec // (steps, t, last fit, g) -> omega
	scoring  *Exec // (steps, t, last fit, g) -> log omega
	testing  *Exec // (steps, t2, t1, z, last fit, g) -> loss
}

func shapeOf(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

// newPrograms declares the networks. A program is compiled at its first call.
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
		{"fit omega", &p.fitting, p.fitGraph}, {"omega", &p.weighing, p.weighGraph},
		{"log omega", &p.scoring, p.scoreGraph}, {"loss of omega", &p.testing, p.testGraph}} {
		*program.exec = MustNewExec(backend, program.build).WithName("sac " + program.name)
	}
	return p, nil
}

func (p *programs) close() {
	for _, exec := range []*Exec{p.acting, p.updating, p.fitting, p.weighing, p.scoring, p.testing} {
		exec.Finalize()
	}
}

// declare lists the parameters of every network.
func (p *programs) declare(backend compute.Backend) (err error) {
	c := p.cfg
	observation, action := shapeOf(p.seeds, 1, c.Observations), shapeOf(p.seeds, 1, c.Actions)
	steps := shapeOf(p.seeds, 1, 1, c.stepWidth())
	p.actor, err = net.Declare(backend, []shapes.Shape{observation, steps},
		func(s *net.Scope, in []*Node) { p.actorNet(s, in[0], in[1]) })
	if err != nil {
		return err
	}
	p.critic, err = net.Declare(backend, []shapes.Shape{observation, action, steps},
		func(s *net.Scope, in []*Node) { p.value(s, in[0], in[1], in[2]) })
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

// actGraph takes the observation [seeds, 1, observations], noise [seeds, 1, actions], with
// context the steps [seeds, history, 1, step], and the actor. It returns the actions.
func (p *programs) actGraph(in []*Node) []*Node {
	observation, noise := in[0], in[1]
	steps, values := p.window(in[2:])
	action, _ := p.act(net.Bind(observation.Graph(), p.actor, values, true), observation, steps, noise)
	return []*Node{action}
}

// window splits off the context's window, which comes first in a list of inputs if there is a
// context.
func (p *programs) window(in []*Node) (window *Node, remaining []*Node) {
	if p.cfg.Context == nil {
		return nil, in
	}
	return in[0], in[1:]
}

func (p *programs) updateGraph(in []*Node) []*Node {
	number, noise := in[0], in[2]
	window, rest := p.window(in[3:])
	b := p.cfg.minibatch(in[1], window)
	next, metrics := p.update(p.unlist(rest[1:]), b, noise, rest[0], number)
	return append([]*Node{metrics}, next.list()...)
}
