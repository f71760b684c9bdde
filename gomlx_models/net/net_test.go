package net

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

var backends = []string{"", backend.Go}

func open(tb testing.TB, name string) compute.Backend { return backend.ForTest(tb, name).Backend }

// run executes a graph function and returns the flat values of its results.
func run(tb testing.TB, b compute.Backend, fn func(in []*Node) []*Node, args ...any) [][]float32 {
	tb.Helper()
	exec, err := NewExec(b, fn)
	demand.NoError(tb, err)
	defer exec.Finalize()
	out, err := RunValues(exec, args...)
	demand.NoError(tb, err)
	return out
}

func tensor[T float32 | int32](values []T, dims ...int) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, dims...)
}

// network uses every kind of parameter.
func network(s *Scope, x *Node) *Node {
	x = Relu(BatchNorm(s.In("norm"), Dense(s.In("a"), x, 4, He), BatchStatistics))
	return Dense(s.In("b"), x, 2, Lecun)
}

func TestDeclare(t *testing.T) {
	b := open(t, backend.Go)
	params, err := Declare(b, []shapes.Shape{shapes.Make(dtypes.Float32, 5, 3)},
		func(s *Scope, in []*Node) { network(s, in[0]) })
	demand.NoError(t, err)
	want := []Param{
		{"a/weights", []int{3, 4}, true, true, He(3)},
		{"a/biases", []int{4}, true, false, Constant(0)},
		{"norm/scale", []int{4}, true, false, Constant(1)},
		{"norm/offset", []int{4}, true, false, Constant(0)},
		{"norm/mean", []int{4}, false, false, Constant(0)},
		{"norm/variance", []int{4}, false, false, Constant(1)},
		{"b/weights", []int{4, 2}, true, true, Lecun(4)},
		{"b/biases", []int{2}, true, false, Constant(0)},
	}
	if !slices.EqualFunc(params, want, func(p, q Param) bool {
		return p.Name == q.Name && slices.Equal(p.Dims, q.Dims) && p.Trainable == q.Trainable &&
			p.Decay == q.Decay && p.Init == q.Init
	}) {
		t.Errorf("declared %+v\nwant %+v", params, want)
	}
}

func TestDeclareReturnsErrors(t *testing.T) {
	b := open(t, backend.Go)
	in := []shapes.Shape{shapes.Make(dtypes.Float32, 5, 3)}
	for _, c := range []struct {
		want string
		fn   func(s *Scope, in []*Node)
	}{
		{"used with shapes", func(s *Scope, in []*Node) { s.Bias("w", Constant(0), 2); s.Bias("w", Constant(0), 3) }},
		{"", func(s *Scope, in []*Node) { Dot(in[0], in[0]).Product() }},
	} {
		_, err := Declare(b, in, c.fn)
		demand.Error(t, err, c.want)
	}
}

func TestBindUsesGivenValuesAndReturnsUpdates(t *testing.T) {
	params := []Param{{Name: "w", Trainable: true}, {Name: "s/count"}, {Name: "s/still"}}
	out := run(t, open(t, ""), func(in []*Node) []*Node {
		s := Bind(in[0].Graph(), params, in, true)
		w := s.Weight("w", Constant(0))
		count := s.In("s").State("count", Constant(0))
		s.In("s").State("still", Constant(0))
		s.In("s").Update("count", Add(count, w))
		return s.Updated(params, in)
	}, float32(3), float32(10), float32(7))
	demand.Floats(t, "updated", []float32{out[0][0], out[1][0], out[2][0]}, []float32{3, 13, 7}, 0)
}

func TestBindRefusesUndeclaredParameters(t *testing.T) {
	params := []Param{{Name: "w", Dims: []int{2}, Trainable: true}}
	for want, fn := range map[string]func(s *Scope) *Node{
		"not among":   func(s *Scope) *Node { return s.Weight("v", Constant(0), 2) },
		"with shapes": func(s *Scope) *Node { return s.Weight("w", Constant(0), 3) },
	} {
		exec := MustNewExec(open(t, backend.Go), func(in []*Node) []*Node {
			return []*Node{fn(Bind(in[0].Graph(), params, in, false))}
		})
		if _, err := exec.Call([]float32{1, 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func TestInit(t *testing.T) {
	params := []Param{{Name: "w", Dims: []int{100, 100}, Init: He(50)}, {Name: "c", Dims: []int{3}, Init: Constant(2)}}
	v := Init(params, 1, "test")
	mean, square := 0.0, 0.0
	for _, x := range v[0] {
		mean, square = mean+float64(x)/1e4, square+float64(x)*float64(x)/1e4
	}
	if math.Abs(mean) > .01 || math.Abs(math.Sqrt(square)-.2) > .005 {
		t.Errorf("He(50) drew mean %v and standard deviation %v, want 0 and 0.2", mean, math.Sqrt(square))
	}
	demand.Floats(t, "constant", v[1], []float32{2, 2, 2}, 0)
	if again := Init(params, 1, "test"); !slices.Equal(again[0], v[0]) {
		t.Error("the same seed and purpose drew other values")
	}
	if other := Init(params, 2, "test"); slices.Equal(other[0], v[0]) {
		t.Error("another seed drew the same values")
	}
	if other := Init(params, 1, "other"); slices.Equal(other[0], v[0]) {
		t.Error("another purpose drew the same values")
	}
	if swapped := Init([]Param{params[1], params[0]}, 1, "test"); !slices.Equal(swapped[1], v[0]) {
		t.Error("an array's values depend on the other arrays")
	}
	c := v.Clone()
	c[1][0] = 5
	if v[1][0] != 2 {
		t.Error("Clone shares memory")
	}
}
