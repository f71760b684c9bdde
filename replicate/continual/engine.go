package continual

import (
	"sync"

	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// engine is a client of the backend with what is compiled and held for it. The CPU
// plugin runs the programs of one client one after the other, and a training inside a
// compiled loop keeps one processor busy. So runs of vector models that go on side by
// side have an engine each, and runs that train together one; no number depends on which.
// All others share the first: a step of ResNet-18 uses every processor by itself, and a GPU
// has one memory.
type engine struct {
	compute.Backend
	mu          sync.Mutex
	classifiers map[string]*Classifier
	mmds        map[string]*mmd.Computer
	metaWeights map[string]*metaweight.Trainer
	estimators  map[string]*propensity.Estimator
	streams     map[string]*Stream
	pools       map[string]*tensors.Tensor // inputs that streams share
}

// engine returns an engine for a run and what gives it back.
func (e *Env) engine(s Settings) (*engine, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first == nil {
		e.first = &engine{Backend: e.Backend.Backend}
		e.idle = []*engine{e.first}
	}
	if s.Network == "head" || !e.Backend.SerialExecution() {
		return e.first, func() {}, nil
	}
	if len(e.idle) == 0 {
		another, err := e.Backend.NewClient()
		if err != nil {
			return nil, nil, err
		}
		e.idle = append(e.idle, &engine{Backend: another.Backend})
	}
	taken := e.idle[len(e.idle)-1]
	e.idle = e.idle[:len(e.idle)-1]
	return taken, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.idle = append(e.idle, taken)
	}, nil
}
