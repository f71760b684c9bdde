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

// Group trains batched seeds: several members, such as the seeds of a run, in one compiled
// program. Each member runs its own code on its own goroutine. A call of Fit waits until all
// members have called Fit, then one program with a leading axis of members trains them all.
// This is faster than separate trainings if an update consists of small operations.
//
// The results of a member do not depend on the other members' data or on their order. They
// depend on the group's size in the last digits, since XLA rounds differently for other
// shapes.
type Group struct {
	size int

	mu      sync.Mutex
	waiting map[int]*fitCall // by member: calls of Fit that wait for the other members
	ended   bool             // the work of at least one member has ended
	stacked map[dataKey]stackedData
}

// fitCall holds the arguments and results of one member's call of Fit.
type fitCall struct {
	trainer *Trainer
	start   net.Values
	data    []*tensors.Tensor
	rate    float64
	updates int
	feed    Feed

	done   chan struct{} // closed when the fields below are set
	values net.Values
	losses []float64
	err    error
}

// dataKey names one data array of a trainer.
type dataKey struct {
	trainer *Trainer
	index   int
}

// stackedData holds one data array of all members on a leading axis.
type stackedData struct {
	parts []*tensors.Tensor // by member, [dims...] each
	all   *tensors.Tensor   // [members, dims...]
}

// errSibling is returned by members stopped because another member failed.
var errSibling = errors.New("loop: the training of another member of the group failed")

// NewGroup returns a group of size members, at least 1. Close it when it is no longer needed.
func NewGroup(size int) *Group {
	return &Group{size: size, stacked: map[dataKey]stackedData{}}
}

// Close frees the stacked data. It does not close the trainers.
func (g *Group) Close() {
	for _, s := range g.stacked {
		s.all.FinalizeAll()
	}
	g.stacked = nil
}

// Each calls work once for each member, 0..size-1, on a goroutine each, and returns when all
// calls have returned. All members must train the same problems in the same order. work must
// pass its ctx to Fit and must not panic.
//
// Each returns the error of the member that failed first. This failure cancels the ctx of the
// other members, so those that wait in Fit return immediately.
func (g *Group) Each(ctx context.Context, work func(ctx context.Context, member int) error) error {
	g.waiting, g.ended = map[int]*fitCall{}, false
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, g.size)
	var wait sync.WaitGroup
	for i := range g.size {
		wait.Go(func() {
			defer g.leave()
			if errs[i] = work(ctx, i); errs[i] != nil && !errors.Is(errs[i], errSibling) {
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

// leave records that the work of a member has ended. Members that wait in Fit return an error.
func (g *Group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	for _, c := range g.waiting {
		c.err = c.errEnded()
		close(c.done)
	}
	clear(g.waiting)
}

// errEnded is the error of a call that waits for a member whose work has ended.
func (c *fitCall) errEnded() error {
	return fmt.Errorf("loop: cannot train %s for the group: a member has ended; "+
		"all members must train the same problems", c.trainer.given.Name)
}

// member is the Fitter of one member of a Group. It may be used inside Each only.
type member struct {
	group   *Group
	trainer *Trainer
	index   int
}

// Member returns the Fitter of the member with this index, 0..size-1, for the problem of t. In
// a group of one it is t itself.
func (g *Group) Member(index int, t *Trainer) Fitter {
	if g.size == 1 {
		return t
	}
	return &member{group: g, trainer: t, index: index}
}

// Chunk is the number of updates in one call to the device.
func (m *member) Chunk() int { return m.trainer.Chunk() }

// Fit is Trainer.Fit for one member. It returns when all members are trained. It fails as
// Trainer.Fit does, if another member's training or work fails, if the members ask for
// different trainings, and if the Problem has its own Step.
func (m *member) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int,
	feed Feed) (net.Values, []float64, error) {
	c := &fitCall{trainer: m.trainer, start: start, data: data, rate: rate, updates: updates, feed: feed,
		done: make(chan struct{}), err: errSibling}
	if all := m.group.register(m.index, c); all != nil {
		m.group.train(ctx, all)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if m.group.withdraw(m.index) {
			return nil, nil, ctx.Err()
		}
		<-c.done // the training uses the arguments until then
	}
	return c.values, c.losses, c.err
}

// register adds a member's call to those that wait. For the last member it returns the calls of
// all, by member, and nil otherwise.
func (g *Group) register(member int, c *fitCall) []*fitCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		c.err = c.errEnded()
		close(c.done)
		return nil
	}
	g.waiting[member] = c
	if len(g.waiting) < g.size {
		return nil
	}
	all := make([]*fitCall, g.size)
	for i, c := range g.waiting {
		all[i] = c
	}
	clear(g.waiting)
	return all
}

// withdraw removes a waiting call. It returns false if the call's training has begun or ended.
func (g *Group) withdraw(member int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, waits := g.waiting[member]
	delete(g.waiting, member)
	return waits
}

// train runs the calls of all members and sets their results. If a member's loss diverges, that
// member gets the error and the others keep errSibling.
func (g *Group) train(ctx context.Context, all []*fitCall) {
	defer func() {
		for _, c := range all {
			close(c.done)
		}
	}()
	values, losses, err := g.fit(ctx, all)
	var diverged divergenceError
	if errors.As(err, &diverged) {
		all[diverged.member].err = err
		return
	}
	for i, c := range all {
		if c.err = err; err == nil {
			c.values, c.losses = values[i], losses[i]
		}
	}
}

// fit trains all members in one program. The results are by member.
func (g *Group) fit(ctx context.Context, all []*fitCall) ([]net.Values, [][]float64, error) {
	var starts []net.Values
	var feeds []Feed
	first := all[0]
	for _, c := range all {
		if c.trainer != first.trainer || c.rate != first.rate || c.updates != first.updates {
			return nil, nil, fmt.Errorf("loop: members of a group ask for %d updates of %s at rate %g "+
				"and %d of %s at rate %g; all must train the same", first.updates, first.trainer.given.Name, first.rate,
				c.updates, c.trainer.given.Name, c.rate)
		}
		starts, feeds = append(starts, c.start), append(feeds, c.feed)
	}
	t, err := first.trainer.batchedTrainer(g.size)
	if err != nil {
		return nil, nil, err
	}
	data, err := g.stackData(t, all)
	if err != nil {
		return nil, nil, err
	}
	return t.fit(ctx, starts, data, first.rate, first.updates, feeds, nil)
}

// stackData stacks each data array of the members on a leading axis, on the device. It keeps the
// result, and reuses it as long as the members' tensors are the same.
func (g *Group) stackData(t *Trainer, all []*fitCall) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, t.problem.Data)
	for k := range out {
		parts := make([]*tensors.Tensor, len(all))
		for i, c := range all {
			parts[i] = c.data[k]
		}
		kept := g.stacked[dataKey{t, k}]
		if !slices.Equal(kept.parts, parts) {
			result, err := net.Run(t.stackExec, parts)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
			}
			if kept.all != nil {
				kept.all.FinalizeAll()
			}
			kept = stackedData{parts, result[0]}
			g.stacked[dataKey{t, k}] = kept
		}
		out[k] = kept.all
	}
	return out, nil
}
