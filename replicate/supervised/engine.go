package supervised

import (
	"fmt"
	"sync"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// Engine is a client of the backend with everything that is compiled and stored for it.
type Engine struct {
	compute.Backend
	memo    experiment.Memo
	loading sync.Mutex
}

// load copies the pools of a stream to the device, once. Every run does so before it uses them: GoMLX checks a tensor
// without a lock, so that one that two runs use for the first time at the same moment can look empty to one of them.
func (e *Engine) load(s *Stream) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	pools := []*tensors.Tensor{s.Pool, s.GPool.X}
	if s.ValidationX != nil {
		pools = append(pools, s.ValidationX)
	}
	for _, pool := range pools {
		if err := pool.MaterializeOnDevice(e.Backend, true, 0); err != nil {
			return fmt.Errorf("cannot load the samples: %w", err)
		}
	}
	return nil
}

// estimator returns the estimator of a learner's g on a stream.
func (e *Engine) estimator(s Settings, stream *Stream, method propensity.Method) (*propensity.Estimator, error) {
	if method == methodOfSettings {
		method = s.Method
	}
	cfg := s.propensity(stream.Classes, method)
	key := fmt.Sprint(cfg, s.Steps, stream.GPool.X.Shape())
	made, err := experiment.Memoize(&e.memo, key, func() (*propensity.Estimator, error) {
		return propensity.NewEstimator(e.Backend, stream.GPool, s.Steps, cfg)
	})
	if err != nil {
		return nil, err
	}
	return made.On(stream.GPool)
}

// engines are the clients of a process. The CPU plugin runs the programs of one client one after the other, and a
// training inside a compiled loop keeps one processor busy. So each parallel run of vector models has an engine; no
// number depends on which. All other runs share the first engine: a step of ResNet-18
// uses every processor, and a GPU has one memory.
type engines struct {
	host  *experiment.Host
	mu    sync.Mutex
	first *Engine
	idle  []*Engine
}

// enginesOf returns the engines of a host.
func enginesOf(h *experiment.Host) *engines {
	e, _ := experiment.Memoize(&h.Memo, "", func() (*engines, error) { return &engines{host: h}, nil })
	return e
}

// take returns an engine for a run and a function that gives it back.
func (e *engines) take(s Settings) (*Engine, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first == nil {
		e.first = &Engine{Backend: e.host.Backend.Backend}
		e.idle = []*Engine{e.first}
	}
	if s.model() == pretrainedHead || !e.host.Backend.SerialExecution() {
		return e.first, func() {}, nil
	}
	if len(e.idle) == 0 {
		another, err := e.host.Backend.NewClient(0)
		if err != nil {
			return nil, nil, err
		}
		e.idle = append(e.idle, &Engine{Backend: another.Backend})
	}
	taken := e.idle[len(e.idle)-1]
	e.idle = e.idle[:len(e.idle)-1]
	return taken, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.idle = append(e.idle, taken)
	}, nil
}
