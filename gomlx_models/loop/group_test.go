package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const groupRows, groupBatch = 40, 33

// regression is a small network on y = |x|, and its trainer.
func regression(t *testing.T, backend compute.Backend, chunk int) *Trainer {
	t.Helper()
	p := Problem{Name: "regression", Data: 2, Feeds: 1, Loss: func(s *net.Scope, data, feeds []*Node) *Node {
		h := net.Relu(net.Dense(s.In("1"), net.Rows(s, data[0], feeds[0]), 9, net.He))
		d := Sub(Squeeze(net.Dense(s.In("2"), h, 1, net.Lecun), -1), net.Rows(s, data[1], feeds[0]))
		return ReduceMean(Mul(d, d), -1)
	}}
	in := []shapes.Shape{shapes.Make(dtypes.Float32, groupRows, 2), shapes.Make(dtypes.Float32, groupRows),
		shapes.Make(dtypes.Int32, groupBatch)}
	var err error
	p.Params, err = net.Declare(backend, in, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) })
	demand.NoError(t, err)
	return trainerOf(t, backend, p, chunk)
}

func trainerOf(t *testing.T, backend compute.Backend, p Problem, chunk int) *Trainer {
	t.Helper()
	tr := New(backend, p, chunk)
	t.Cleanup(tr.Close)
	return tr
}

// training is the training of one seed, with its own data, start values and batches.
type training struct {
	seed  int64
	start net.Values
	data  []*tensors.Tensor

	factors bool // of the learning rate
}

func newTraining(tr *Trainer, seed int64) training {
	rng := random.New(seed, "pupil")
	x, y := make([]float32, 2*groupRows), make([]float32, groupRows)
	for i := range y {
		x[2*i], x[2*i+1] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		y[i] = float32(math.Abs(float64(x[2*i])))
	}
	data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, groupRows, 2),
		tensors.FromFlatDataAndDimensions(y, groupRows)}
	return training{seed, net.Init(tr.given.Params, seed, "pupil"), data, tr.given.RateFactors}
}

// fit runs the training by f. The batches depend on the seed and on the number of the update.
func (tg training) fit(ctx context.Context, f Fitter, updates int) (net.Values, []float64, error) {
	return f.Fit(ctx, tg.start, tg.data, .01, updates, func(first, count int) []*tensors.Tensor {
		index := make([]int32, f.Chunk()*groupBatch)
		for u := range count {
			rng := random.New(tg.seed, "batch", first+u)
			for j := range groupBatch {
				index[u*groupBatch+j] = int32(rng.IntN(groupRows))
			}
		}
		feeds := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, f.Chunk(), groupBatch)}
		if tg.factors {
			feeds = append(feeds, factorFeed(f.Chunk(), first, count))
		}
		return feeds
	})
}

// fitGroup runs the trainings of the seeds in a group.
func fitGroup(t *testing.T, tr *Trainer, updates int, seeds ...int64) (values []net.Values, losses [][]float64) {
	t.Helper()
	g := NewGroup(len(seeds))
	defer g.Close()
	values, losses = make([]net.Values, len(seeds)), make([][]float64, len(seeds))
	demand.NoError(t, g.Each(t.Context(), func(ctx context.Context, i int) (err error) {
		values[i], losses[i], err = newTraining(tr, seeds[i]).fit(ctx, g.Member(i, tr), updates)
		return err
	}))
	return values, losses
}

func TestGroupMatchesSeparateTraining(t *testing.T) {
	for _, c := range []struct {
		backend string
		factors bool
	}{{"", false}, {"", true}, {"go", false}, {"go", true}} {
		tr := regression(t, open(t, c.backend), 7)
		if c.factors {
			p := tr.given
			p.RateFactors, p.Feeds = true, 2
			tr = trainerOf(t, open(t, c.backend), p, 7)
		}
		seeds := []int64{5, 2, 9}
		values, losses := fitGroup(t, tr, 23, seeds...)
		for i, seed := range seeds {
			want, wantLosses, err := newTraining(tr, seed).fit(t.Context(), tr, 23)
			demand.NoError(t, err)
			difference := math.Abs(losses[i][0]-wantLosses[0]) + math.Abs(float64(len(losses[i])-len(wantLosses)))
			for k := range want {
				for j := range want[k] {
					difference = max(difference, math.Abs(float64(values[i][k][j]-want[k][j])))
				}
			}
			if difference > 1e-5 {
				t.Errorf("%+v, seed %d: differs by %g from its training without a group", c, seed, difference)
			}
		}
	}
}

// The result of a member is the same bit for bit, whatever the other members and their order.
func TestGroupMembersAreIndependent(t *testing.T) {
	tr := regression(t, open(t, ""), 7)
	want, _ := fitGroup(t, tr, 23, 5, 2, 9)
	for _, seeds := range [][]int64{{5, 9, 2}, {1, 5, 7}, {8, 3, 5}} {
		got, _ := fitGroup(t, tr, 23, seeds...)
		for k, array := range got[slices.Index(seeds, 5)] {
			if !slices.Equal(array, want[0][k]) {
				t.Errorf("seed 5 in group %v: array %d is %v, in group [5 2 9] %v", seeds, k, array, want[0][k])
			}
		}
	}
}

// A member that fails stops the other members, and Each returns its error.
func TestGroupFails(t *testing.T) {
	tr := regression(t, open(t, "go"), 1)
	step := func(state, _, feeds []*Node, _, _ *Node) (*Node, []*Node) { return feeds[0], state }
	own := New(open(t, "go"), Problem{Name: "own", Params: []net.Param{{Name: "w"}}, Step: step, Feeds: 1}, 1)
	stopped := errors.New("stopped")
	for want, work := range map[string]func(ctx context.Context, tg training, f Fitter, i int) error{
		"stopped": func(ctx context.Context, tg training, f Fitter, i int) error {
			if i == 1 {
				return stopped
			}
			_, _, err := tg.fit(ctx, f, 5)
			return err
		},
		"member 1: regression: the loss became NaN": func(ctx context.Context, tg training, f Fitter, i int) error {
			if i == 1 {
				tg.start[0][0] = float32(math.NaN())
			}
			_, _, err := tg.fit(ctx, f, 5)
			return err
		},
		"5 updates of regression at rate 0.01 and 6": func(ctx context.Context, tg training, f Fitter, i int) error {
			_, _, err := tg.fit(ctx, f, 5+i/2)
			return err
		},
		"a member has ended": func(ctx context.Context, tg training, f Fitter, i int) error {
			if i == 1 {
				return nil
			}
			_, _, err := tg.fit(ctx, f, 5)
			return err
		},
		"for the group: a member has ended": func(ctx context.Context, tg training, f Fitter, i int) error {
			if i == 1 {
				return nil
			}
			time.Sleep(2 * time.Millisecond) // member 1 ends before the others call Fit
			_, _, err := tg.fit(ctx, f, 5)
			return err
		},
		"own has its own Step": func(ctx context.Context, tg training, f Fitter, i int) error {
			_, _, err := tg.fit(ctx, f.(*member).group.Member(i, own), 5)
			return err
		},
	} {
		for range 20 { // so that the members call Fit in different orders
			demand.Error(t, runGroup(t, want, tr, work), want)
		}
	}
}

// runGroup returns the error of a group of three that does the work. The test fails if the group
// does not end within a minute.
func runGroup(t *testing.T, name string, tr *Trainer,
	work func(ctx context.Context, tg training, f Fitter, i int) error) error {
	t.Helper()
	g := NewGroup(3)
	defer g.Close()
	done := make(chan error, 1)
	go func() {
		done <- g.Each(t.Context(), func(ctx context.Context, i int) error {
			if err := work(ctx, newTraining(tr, int64(i)), g.Member(i, tr), i); err != nil {
				return fmt.Errorf("member %d: %w", i, err)
			}
			return nil
		})
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s: the group hangs", name)
		return nil
	}
}

// If ctx is cancelled, members that wait return its error.
func TestGroupIsCancelled(t *testing.T) {
	tr := regression(t, open(t, "go"), 1)
	ctx, cancel := context.WithCancel(t.Context())
	g := NewGroup(2)
	defer g.Close()
	err := g.Each(ctx, func(ctx context.Context, i int) error {
		if i == 1 {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		_, _, err := newTraining(tr, 0).fit(ctx, g.Member(i, tr), 5)
		return err
	})
	if err != context.Canceled {
		t.Errorf("error %v", err)
	}
}
