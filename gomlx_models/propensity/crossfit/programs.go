package crossfit

import (
	"sync"

	"github.com/gomlx/compute"
)

// programs are what was compiled for a backend. Its open fitters share them.
type programs struct {
	backend compute.Backend
	fitters int // that are open; guarded by opened

	mu   sync.Mutex
	nets map[netKey]*network
}

// opened are the programs of the backends that have an open fitter.
var opened = struct {
	sync.Mutex
	of map[compute.Backend]*programs
}{of: map[compute.Backend]*programs{}}

// programsOf returns the programs of a backend for one fitter more.
func programsOf(backend compute.Backend) *programs {
	opened.Lock()
	defer opened.Unlock()
	p := opened.of[backend]
	if p == nil {
		p = &programs{backend: backend, nets: map[netKey]*network{}}
		opened.of[backend] = p
	}
	p.fitters++
	return p
}

// release is called when a fitter closes. The last one frees the programs.
func (p *programs) release() {
	opened.Lock()
	defer opened.Unlock()
	if p.fitters--; p.fitters > 0 {
		return
	}
	delete(opened.of, p.backend)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.nets {
		w.close()
	}
	clear(p.nets)
}

// net returns the programs of that key.
func (p *programs) net(key netKey) (*network, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.nets[key]; w != nil {
		return w, nil
	}
	w, err := newNetwork(p.backend, key)
	if err != nil {
		return nil, err
	}
	p.nets[key] = w
	return w, nil
}
