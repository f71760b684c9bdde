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
	in := []shapes.Shape{shapes.Make(dtypes.Float32, groupRows, 2), shapes.Make(dtypes.Float32, groupRows), shapes.Make(dtypes.Int32, groupBatch)}
	var err error
	if p.Params, err = net.Declare(backend, in, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) }); err != nil {
		t.Fatal(err)
	}
	tr, err := New(backend, p, chunk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// pupil is a seed's own data, start and batches.
type pupil struct {
	seed  int64
	start net.Values
	data  []*tensors.Tensor
}

func newPupil(tr *Trainer, seed int64) pupil {
	rng := random.New(seed, "pupil")
	x, y := make([]float32, 2*groupRows), make([]float32, groupRows)
	for i := range y {
		x[2*i], x[2*i+1] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		y[i] = float32(math.Abs(float64(x[2*i])))
	}
	return pupil{seed, net.Init(tr.alone.Params, seed, "pupil"), []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, groupRows, 2), tensors.FromFlatDataAndDimensions(y, groupRows)}}
}

// fit trains the pupil at a place; its batches depend on its seed and on the update.
func (p pupil) fit(ctx context.Context, at Fitter, updates int) (net.Values, []float64, error) {
	return at.Fit(ctx, p.start, p.data, .01, updates, func(first, count int) []*tensors.Tensor {
		index := make([]int32, at.Chunk()*groupBatch)
		for u := range count {
			rng := random.New(p.seed, "batch", first+u)
			for j := range groupBatch {
				index[u*groupBatch+j] = int32(rng.IntN(groupRows))
			}
		}
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, at.Chunk(), groupBatch)}
	})
}

// together trains pupils of the given seeds in a group.
func together(t *testing.T, tr *Trainer, updates int, seeds ...int64) (values []net.Values, losses [][]float64) {
	t.Helper()
	g := NewGroup(len(seeds))
	defer g.Close()
	values, losses = make([]net.Values, len(seeds)), make([][]float64, len(seeds))
	if err := g.Each(t.Context(), func(ctx context.Context, i int) (err error) {
		values[i], losses[i], err = newPupil(tr, seeds[i]).fit(ctx, g.Member(i, tr), updates)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return values, losses
}

func TestGroupTrainsEachAsAlone(t *testing.T) {
	for _, name := range []string{"", "go"} {
		tr := regression(t, open(t, name), 7)
		seeds := []int64{5, 2, 9}
		values, losses := together(t, tr, 23, seeds...)
		for i, seed := range seeds {
			want, wantLosses, err := newPupil(tr, seed).fit(t.Context(), tr, 23)
			if err != nil {
				t.Fatal(err)
			}
			far := math.Abs(losses[i][0]-wantLosses[0]) + math.Abs(float64(len(losses[i])-len(wantLosses)))
			for k := range want {
				for j := range want[k] {
					far = max(far, math.Abs(float64(values[i][k][j]-want[k][j])))
				}
			}
			if far > 1e-5 {
				t.Errorf("backend %q, seed %d: off by %g from what it learns alone", name, seed, far)
			}
		}
	}
}

// Neither who trains beside a member nor its place changes a bit.
func TestGroupMembersDoNotMeet(t *testing.T) {
	tr := regression(t, open(t, ""), 7)
	want, _ := together(t, tr, 23, 5, 2, 9)
	for _, others := range [][]int64{{5, 9, 2}, {1, 5, 7}, {8, 3, 5}} {
		got, _ := together(t, tr, 23, others...)
		for k, array := range got[slices.Index(others, 5)] {
			if !slices.Equal(array, want[0][k]) {
				t.Errorf("seed 5 among %v: array %d is %v, among 5, 2, 9 %v", others, k, array, want[0][k])
			}
		}
	}
}

// The data of members is put together once, and again when it is other data.
func TestGroupKeepsJoinedData(t *testing.T) {
	tr := regression(t, open(t, "go"), 1)
	g := NewGroup(2)
	defer g.Close()
	pupils := []pupil{newPupil(tr, 1), newPupil(tr, 2)}
	train := func() *tensors.Tensor {
		t.Helper()
		if err := g.Each(t.Context(), func(ctx context.Context, i int) error {
			_, _, err := pupils[i].fit(ctx, g.Member(i, tr), 1)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for at, j := range g.joined {
			if at.index == 0 {
				return j.all
			}
		}
		return nil
	}
	first := train()
	if again := train(); again != first {
		t.Error("the same data was put together twice")
	}
	pupils[1].data = newPupil(tr, 3).data
	if other := train(); other == first {
		t.Error("other data was not put together")
	}
}

// A member that fails ends the work of all, with its error; nobody waits for it.
func TestGroupFails(t *testing.T) {
	tr := regression(t, open(t, "go"), 1)
	own := Problem{Name: "own", Params: []net.Param{{Name: "w"}}, Step: func(state, _, feeds []*Node, _, _ *Node) (*Node, []*Node) { return feeds[0], state }, Feeds: 1}
	stepped, err := New(open(t, "go"), own, 1)
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	for want, work := range map[string]func(ctx context.Context, p pupil, at Fitter, i int) error{
		"stopped": func(ctx context.Context, p pupil, at Fitter, i int) error {
			if i == 1 {
				return stopped
			}
			_, _, err := p.fit(ctx, at, 5)
			return err
		},
		"member 1: regression: the loss became NaN": func(ctx context.Context, p pupil, at Fitter, i int) error {
			if i == 1 {
				p.start[0][0] = float32(math.NaN())
			}
			_, _, err := p.fit(ctx, at, 5)
			return err
		},
		"5 updates of regression at rate 0.01 and 6": func(ctx context.Context, p pupil, at Fitter, i int) error {
			_, _, err := p.fit(ctx, at, 5+i/2)
			return err
		},
		"a member has ended": func(ctx context.Context, p pupil, at Fitter, i int) error {
			if i == 1 {
				return nil
			}
			_, _, err := p.fit(ctx, at, 5)
			return err
		},
		"of which a member has ended": func(ctx context.Context, p pupil, at Fitter, i int) error {
			if i == 1 {
				return nil
			}
			time.Sleep(2 * time.Millisecond) // it has left before
			_, _, err := p.fit(ctx, at, 5)
			return err
		},
		"own has a step of its own": func(ctx context.Context, p pupil, at Fitter, i int) error {
			_, _, err := p.fit(ctx, at.(*Member).group.Member(i, stepped), 5)
			return err
		},
	} {
		for range 20 { // whoever comes first
			g := NewGroup(3)
			done := make(chan error, 1)
			go func() {
				done <- g.Each(t.Context(), func(ctx context.Context, i int) error {
					if err := work(ctx, newPupil(tr, int64(i)), g.Member(i, tr), i); err != nil {
						return fmt.Errorf("member %d: %w", i, err)
					}
					return nil
				})
			}()
			select {
			case err := <-done:
				demand.Error(t, err, want)
			case <-time.After(time.Minute):
				t.Fatalf("%s: the group hangs", want)
			}
			g.Close()
		}
	}
}

// A cancelled ctx frees those that wait, with its error.
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
		_, _, err := newPupil(tr, 0).fit(ctx, g.Member(i, tr), 5)
		return err
	})
	if err != context.Canceled {
		t.Errorf("error %v", err)
	}
}
