package loop

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// twoSteps runs two updates of one value that starts at 2, with the given gradients, and
// returns the value after each update.
func twoSteps(t *testing.T, backend string, rate float64, gradients []float32, slots int, step Step) []float64 {
	t.Helper()
	problem := Problem{Name: "two steps", Params: []net.Param{{Name: "w"}}, Step: step, Feeds: 1}
	problem.Slots = make([]net.Param, slots)
	tr := New(open(t, backend), problem, 2)
	defer tr.Close()
	var out []float64
	for updates := range 2 {
		got, _, err := tr.Fit(t.Context(), net.Values{{2}}, nil, rate, updates+1, func(first, count int) []*tensors.Tensor {
			chunk := make([]float32, tr.Chunk())
			copy(chunk, gradients[first:first+count])
			return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(chunk, tr.Chunk())}
		})
		demand.NoError(t, err)
		out = append(out, float64(got[0][0]))
	}
	return out
}

// TestOptimisersMatchPyTorch compares with the documented updates of torch.optim, computed by
// hand, both with weight decay 1/2, rate 1/10 and value 2.
//
// SGD, momentum .9, gradients 1, 1: the first velocity is 1 + .5*2 = 2 (no dampening), w =
// 1.8; the second .9*2 + 1 + .9 = 3.7, w = 1.43.
//
// Adam, gradients -1/2, -1/2: with the decay they are .5 and .45. So the first step decreases
// w by .1 (with decoupled decay w would not change: +.1 by the step, -.1 by the decay), the
// second by .1 (.09/.19) / sqrt(.00045225/.001999).
func TestOptimisersMatchPyTorch(t *testing.T) {
	sgd := func(state, _, feeds []*Node, _, rate *Node) (*Node, []*Node) {
		w := state[:1]
		next, velocity := SGD(w, AddDecay(w, feeds, .5), state[1:], rate, .9)
		return feeds[0], slices.Concat(next, velocity)
	}
	adam := func(state, _, feeds []*Node, step, rate *Node) (*Node, []*Node) {
		w := state[:1]
		next, m, v := Adam(w, AddDecay(w, feeds, .5), state[1:2], state[2:], step, rate)
		return feeds[0], slices.Concat(next, m, v)
	}
	for _, backend := range []string{"", "go"} {
		for name, c := range map[string]struct {
			got, want []float64
		}{
			"SGD": {twoSteps(t, backend, .1, []float32{1, 1}, 1, sgd), []float64{1.8, 1.43}},
			"Adam": {twoSteps(t, backend, .1, []float32{-.5, -.5}, 2, adam),
				[]float64{1.9, 1.9 - .1*(.09/.19)/math.Sqrt(.00045225/.001999)}},
		} {
			for i, want := range c.want {
				if math.Abs(c.got[i]-want) > 1e-5 {
					t.Errorf("%s, backend %q: after step %d the value is %v, want %v", name, backend, i+1, c.got[i], want)
				}
			}
		}
	}
}

// TestFitUntil: each update moves a value of constant gradient by the rate times its factor. The loss is that of two
// networks, [2]. look ends the training.
func TestFitUntil(t *testing.T) {
	problem := Problem{Name: "factors", Feeds: 1, RateFactors: true,
		Params: []net.Param{{Name: "w", Dims: []int{2}, Trainable: true}},
		Loss:   func(s *net.Scope, _, _ []*Node) *Node { return s.Copies(2).Weight("w", net.Constant(0)) }}
	tr := New(open(t, "go"), problem, 1)
	defer tr.Close()
	feed := func(first, _ int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{[]float32{.5, .25, 1}[first]}, 1)}
	}
	var seen []float32
	look := func(done int, _ float64, values func() (net.Values, error)) (bool, error) {
		now, err := values()
		seen = append(seen, now[0][0])
		return done == 2, err
	}
	got, losses, err := tr.FitUntil(t.Context(), net.Values{{2, 4}}, nil, .1, 3, feed, look)
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }
	if err != nil || !slices.EqualFunc(got[0], []float32{1.925, 3.925}, near) ||
		!slices.EqualFunc(seen, []float32{1.95, 1.925}, near) || len(losses) != 2 {
		t.Errorf("values %v, seen %v, losses %v, %v", got, seen, losses, err)
	}
}
