package loop

import (
	"context"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

func open(tb testing.TB, name string) compute.Backend { return backend.ForTest(tb, name).Backend }

// line is least squares on y = w x: data x [4], y [4]; feed index [chunk, 2].
var line = Problem{
	Name:   "line",
	Params: []net.Param{{Name: "w", Trainable: true}, {Name: "count"}},
	Data:   2,
	Feeds:  1,
	Loss: func(s *net.Scope, data, feeds []*Node) *Node {
		index := ExpandAxes(feeds[0], -1)
		x, y := Gather(data[0], index), Gather(data[1], index)
		count := s.State("count", net.Constant(0))
		s.Update("count", AddScalar(count, 1))
		d := Sub(Mul(x, s.Bias("w", net.Constant(0))), y)
		return ReduceAllMean(Mul(d, d))
	},
}

var (
	lineX     = []float32{1, 2, 3, 4}
	lineY     = []float32{2, 4.5, 5.5, 8}
	lineIndex = func(u, j int) int { return (3*u + j) % 4 }
)

func lineData(y []float32) []*tensors.Tensor {
	return []*tensors.Tensor{tensors.FromValue(lineX), tensors.FromValue(y)}
}

func lineFeed(chunk int) Feed {
	return func(first, count int) []*tensors.Tensor {
		index := make([]int32, chunk*2)
		for u := range count {
			for j := range 2 {
				index[u*2+j] = int32(lineIndex(first+u, j))
			}
		}
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, chunk, 2)}
	}
}

// reference is w after so many updates of Adam, each with its rate, computed in float64.
func reference(updates int, rate func(u int) float64) float64 {
	w, m, v := 0.0, 0.0, 0.0
	for u := range updates {
		grad := 0.0
		for j := range 2 {
			i := lineIndex(u, j)
			grad += 2 * (w*float64(lineX[i]) - float64(lineY[i])) * float64(lineX[i]) / 2
		}
		m = .9*m + .1*grad
		v = .999*v + .001*grad*grad
		t := float64(u + 1)
		w -= rate(u) * m / (1 - math.Pow(.9, t)) / (math.Sqrt(v/(1-math.Pow(.999, t))) + 1e-8)
	}
	return w
}

// fallingFactor is the factor of the rate of an update.
func fallingFactor(u int) float64 { return 1 / float64(1+u) }

func factorFeed(chunk, first, count int) *tensors.Tensor {
	factors := make([]float32, chunk)
	for u := range count {
		factors[u] = float32(fallingFactor(first + u))
	}
	return tensors.FromFlatDataAndDimensions(factors, chunk)
}

func trainerOf(t *testing.T, backend compute.Backend, p Problem, chunk int) *Trainer {
	t.Helper()
	tr := New(backend, p, chunk)
	t.Cleanup(tr.Close)
	return tr
}

// TestFitIsAdam, also with a rate of its own for each update. Each chunk is reported.
func TestFitIsAdam(t *testing.T) {
	falling := line
	falling.RateFactors, falling.Feeds = true, 2
	for _, name := range []string{"", "go"} {
		for _, problem := range []Problem{line, falling} {
			for _, chunk := range []int{1, 7, 50} {
				tr, factor := trainerOf(t, open(t, name), problem, chunk), func(int) float64 { return 1 }
				feed := lineFeed(tr.Chunk())
				if problem.RateFactors {
					factor = fallingFactor
					feed = func(first, count int) []*tensors.Tensor {
						return append(lineFeed(tr.Chunk())(first, count), factorFeed(tr.Chunk(), first, count))
					}
				}
				var reported []float64
				last := 0
				got, losses, err := tr.Fit(t.Context(), net.Values{{0}, {0}}, lineData(lineY), .05, 23, feed,
					func(done int, loss float64) { last, reported = done, append(reported, loss) })
				demand.NoError(t, err)
				if last != 23 || !slices.Equal(reported, losses) {
					t.Errorf("chunk %d: losses %v up to update %d are reported, of %v", chunk, reported, last, losses)
				}
				want := reference(23, func(u int) float64 { return .05 * factor(u) })
				if math.Abs(float64(got[0][0])-want) > 1e-5 || got[1][0] != 23 {
					t.Errorf("backend %q, chunk %d: w = %v, want %v; the state array counted %v updates, want 23", name, chunk,
						got[0][0], want, got[1][0])
				}
				if want := (23 + tr.Chunk() - 1) / tr.Chunk(); len(losses) != want {
					t.Errorf("chunk %d: %d losses, want %d", chunk, len(losses), want)
				}
			}
		}
	}
}

// TestFitRefusesInfiniteLoss, and values that are not finite after the last update, which no loss shows.
func TestFitRefusesInfiniteLoss(t *testing.T) {
	tr, data := trainerOf(t, open(t, ""), line, 5), lineData([]float32{1, 2, float32(math.Inf(1)), 4})
	if _, _, err := tr.Fit(t.Context(), net.Values{{0}, {0}}, data, .05, 10, lineFeed(5), nil); err == nil {
		t.Error("an infinite label was accepted")
	}
	if _, _, err := tr.Fit(demand.Cancelled(), net.Values{{0}, {0}}, data, .05, 10, lineFeed(5), nil); err != context.Canceled {
		t.Errorf("cancelled Fit returned %v", err)
	}
	_, _, err := tr.Fit(t.Context(), net.Values{{0}, {0}}, lineData(lineY), math.Inf(1), 1, lineFeed(5), nil)
	demand.Error(t, err, "line: a value of w became +Inf within 1 updates; lower the learning rate")
}
