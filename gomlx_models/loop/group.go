package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
)

// Group trains for several members, such as the seeds of a run, at the same time. Each
// member's code is written as if it were alone and runs on a goroutine of its own; where it
// calls Fit it waits until all have called, and one program with an axis of copies trains
// them all. That is faster where an update consists of small operations (BenchmarkSeeds).
// Who trains beside a member changes no bit of its numbers; how many there are does, as XLA
// rounds otherwise.
type Group struct {
	size int

	mu      sync.Mutex
	waiting map[int]*call // by member: those that have called Fit
	over    bool          // the work of a member has ended
	joined  map[place]joined
}

// call is what a member wants trained, and what came of it.
type call struct {
	trainer *Trainer
	start   net.Values
	data    []*tensors.Tensor
	rate    float64
	updates int
	feed    Feed

	done   chan struct{} // closed when the rest is there
	values net.Values
	losses []float64
	err    error
}

// place is an array among the data of a trainer.
type place struct {
	trainer *Trainer
	index   int
}

// joined is the data of all members on one axis.
type joined struct {
	from []*tensors.Tensor
	all  *tensors.Tensor
}

// errBeside is the error of members whose training ended because of another's.
var errBeside = errors.New("loop: the training of another member of the group failed")

// NewGroup returns a group of so many members, at least 1. Close it when it is no longer
// needed.
func NewGroup(size int) *Group {
	return &Group{size: size, joined: map[place]joined{}}
}

// Close frees the data that the group holds. The trainers are not its own.
func (g *Group) Close() {
	for _, j := range g.joined {
		j.all.FinalizeAll()
	}
	g.joined = nil
}

// Each does the work of every member, each on its own goroutine, and returns when all have
// ended. All must train the same problems in the same order; work must hand its ctx to Fit
// and must not panic. The error is that of the member that failed first: it ends the ctx
// of the others, and those that wait in Fit return at once.
func (g *Group) Each(ctx context.Context, work func(ctx context.Context, member int) error) error {
	g.waiting, g.over = map[int]*call{}, false
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, g.size)
	var wait sync.WaitGroup
	for i := range g.size {
		wait.Go(func() {
			defer g.leave()
			if errs[i] = work(ctx, i); errs[i] != nil && !errors.Is(errs[i], errBeside) {
				cancel(errs[i])
			}
		})
	}
	wait.Wait()
	if failed := cmp.Or(errs...); failed != nil {
		return cmp.Or(context.Cause(ctx), failed)
	}
	return nil
}

// leave ends the work of a member: whoever waits for it has waited in vain.
func (g *Group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	for _, c := range g.waiting {
		c.err = c.alone()
		close(c.done)
	}
	clear(g.waiting)
}

func (c *call) alone() error {
	return fmt.Errorf("loop: %s is to be trained for a group of which a member has ended; all must train the same", c.trainer.alone.Name)
}

// Member is a member's place at a trainer. It may be used inside of Each only.
type Member struct {
	group   *Group
	trainer *Trainer
	at      int
}

// Member returns the place of a member, 0..size-1, at a trainer. A group of one has the
// trainer itself.
func (g *Group) Member(at int, t *Trainer) Fitter {
	if g.size == 1 {
		return t
	}
	return &Member{group: g, trainer: t, at: at}
}

// Chunk is the number of updates in one call to the device.
func (m *Member) Chunk() int { return m.trainer.Chunk() }

// Fit is Trainer.Fit for a member. It returns when those of all members are through.
func (m *Member) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int, feed Feed) (net.Values, []float64, error) {
	c := &call{trainer: m.trainer, start: start, data: data, rate: rate, updates: updates, feed: feed, done: make(chan struct{}), err: errBeside}
	if all := m.group.arrive(m.at, c); all != nil {
		m.group.train(ctx, all)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if m.group.withdraw(m.at) {
			return nil, nil, ctx.Err()
		}
		<-c.done // what was given is in use until then
	}
	return c.values, c.losses, c.err
}

// arrive notes a member's call; the last one gets the calls of all, in order of the members.
func (g *Group) arrive(at int, c *call) []*call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		c.err = c.alone()
		close(c.done)
		return nil
	}
	g.waiting[at] = c
	if len(g.waiting) < g.size {
		return nil
	}
	all := make([]*call, g.size)
	for i, c := range g.waiting {
		all[i] = c
	}
	clear(g.waiting)
	return all
}

// withdraw takes a call back; it returns false if its training has begun or ended.
func (g *Group) withdraw(at int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, waits := g.waiting[at]
	delete(g.waiting, at)
	return waits
}

// train does what all members have called for, and tells them.
func (g *Group) train(ctx context.Context, all []*call) {
	defer func() {
		for _, c := range all {
			close(c.done)
		}
	}()
	values, losses, err := g.fit(ctx, all)
	var diverged divergence
	if errors.As(err, &diverged) {
		all[diverged.copy].err = err
		return
	}
	for i, c := range all {
		if c.err = err; err == nil {
			c.values, c.losses = values[i], losses[i]
		}
	}
}

func (g *Group) fit(ctx context.Context, all []*call) ([]net.Values, [][]float64, error) {
	var starts []net.Values
	var feeds []Feed
	first := all[0]
	for _, c := range all {
		if c.trainer != first.trainer || c.rate != first.rate || c.updates != first.updates {
			return nil, nil, fmt.Errorf("loop: a group's members want %d updates of %s at rate %g and %d of %s at rate %g; all must train the same",
				first.updates, first.trainer.alone.Name, first.rate, c.updates, c.trainer.alone.Name, c.rate)
		}
		starts, feeds = append(starts, c.start), append(feeds, c.feed)
	}
	t, err := first.trainer.stack(g.size)
	if err != nil {
		return nil, nil, err
	}
	data, err := g.join(t, all)
	if err != nil {
		return nil, nil, err
	}
	return t.fit(ctx, starts, data, first.rate, first.updates, feeds)
}

// join puts the members' data on one axis, on the device. What was joined last time is kept.
func (g *Group) join(t *Trainer, all []*call) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, t.problem.Data)
	for k := range out {
		from := make([]*tensors.Tensor, len(all))
		for i, c := range all {
			from[i] = c.data[k]
		}
		held := g.joined[place{t, k}]
		if !slices.Equal(held.from, from) {
			result, err := net.Run(t.join, from)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
			}
			if held.all != nil {
				held.all.FinalizeAll()
			}
			held = joined{from, result[0]}
			g.joined[place{t, k}] = held
		}
		out[k] = held.all
	}
	return out, nil
}
