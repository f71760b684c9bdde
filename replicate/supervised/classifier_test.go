package supervised

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
)

// twoClouds returns n points of two dimensions in two clouds, far apart. Every second point of the second half has
// the wrong label.
func twoClouds(n int) (x []float32, data Samples, wrong []bool) {
	rng := random.New(0, "continual test", "clouds")
	for i := range n {
		label := int32(i % 2)
		centre := 4*float64(label) - 2
		x = append(x, float32(centre+.5*rng.NormFloat64()), float32(10*rng.NormFloat64()))
		w := i >= n/2 && i%4 < 2
		if w {
			label = 1 - label
		}
		data.Row, data.Label, wrong = append(data.Row, int32(i)), append(data.Label, label), append(wrong, w)
	}
	return x, data, wrong
}

// fitted trains a classifier on rows of x.
func fitted(t *testing.T, c *Classifier, x []float32, data Samples) net.Values {
	t.Helper()
	start := c.Standardise(c.Init(0, 0), x, data)
	pool := tensors.FromFlatDataAndDimensions(x, len(x)/2, 2)
	values, err := c.Fit(t.Context(), pool, start, data, 40, batchOrder(0, 0, 0))
	demand.NoError(t, err)
	return values
}

func newClassifier(t *testing.T, backend string, s Settings, rows, dim int) *Classifier {
	t.Helper()
	pool := tensors.FromFlatDataAndDimensions(make([]float32, rows*dim), rows, dim)
	c, err := NewClassifier(open(t, backend).Backend, s, pool.Shape(), 2)
	demand.NoError(t, err)
	return c
}

// TestWeightedLoss: if samples with a wrong label have weight 0, a linear classifier learns the right rule. The scale
// of the weights has no effect.
func TestWeightedLoss(t *testing.T) {
	s := gaussianSettings()
	s.Network, s.MaxUpdates, s.Rate = "linear", 300, .05
	x, data, wrong := twoClouds(200)
	for _, backend := range []string{"", "go"} {
		c := newClassifier(t, backend, s, 200, 2)
		data.Weight = make([]float64, 200)
		for i, w := range wrong {
			data.Weight[i] = .25 + .5*float64(i%3)
			if w {
				data.Weight[i] = 0
			}
		}
		values := fitted(t, c, x, data)
		predicted, err := c.Predict(context.Background(), tensors.FromFlatDataAndDimensions(x, 200, 2), values, data.Row)
		demand.NoError(t, err)
		for i, class := range predicted {
			if class != int32(i%2) {
				t.Fatalf("%q: sample %d is classified as %d", backend, i, class)
			}
		}
		scaled := data
		scaled.Weight = slices.Clone(data.Weight)
		for i := range scaled.Weight {
			scaled.Weight[i] *= 8 // a power of two does not even round
		}
		if err := sameBits(fitted(t, c, x, scaled), values); err != nil {
			t.Errorf("%q: weights times 8: %v", backend, err)
		}
	}
}

func TestNormalise(t *testing.T) {
	three := Samples{Row: make([]int32, 3)}
	for _, c := range []struct {
		weight []float64
		want   string
	}{
		{nil, "[1 1 1]"}, {[]float64{1, 1, 1}, "[1 1 1]"}, {[]float64{.1, .1, .1}, "[1 1 1]"},
		{[]float64{0, 3, 9}, "[0 0.75 2.25]"},
	} {
		three.Weight = c.weight
		if got, err := normalise(three); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%v becomes %v, %v; want %s", c.weight, got, err, c.want)
		}
	}
	for _, weight := range [][]float64{{0, 0, 0}, {1, math.NaN(), 1}} {
		three.Weight = weight
		_, err := normalise(three)
		demand.Error(t, err, "weights of 3 samples sum to")
	}
}

// TestStandardise: mean and standard deviation (n - 1) are those of the data's rows alone. A constant column is only
// centred. No other value changes.
func TestStandardise(t *testing.T) {
	c := newClassifier(t, "go", gaussianSettings(), 5, 2)
	x := []float32{1, 7, 1000, 1000, 3, 7, 5, 7, -1000, 1000}
	start := c.Init(0, 0)
	kept := start.Clone()
	out := c.Standardise(start, x, Samples{Row: []int32{0, 2, 3}})
	for i, p := range c.params {
		want := fmt.Sprint(kept[i])
		switch p.Name {
		case inputMean:
			want = "[3 7]"
		case inputScale:
			want = "[2 1]"
		}
		demand.Equal(t, fmt.Sprint(out[i]), want, "%s", p.Name)
	}
	demand.NoError(t, sameBits(start, kept)) // the start values stay
	b := imageRun(t, "go", imageSettings(), fakeImages(t, 100, 20, 8))
	head := b.Classifier.Init(0, 0)
	demand.NoError(t, sameBits(b.Classifier.Standardise(head, nil, Samples{Row: []int32{0, 1}}), head))
}

// TestPredict: a linear classifier with known weights predicts more rows than one batch holds.
func TestPredict(t *testing.T) {
	s := gaussianSettings()
	s.Network = "linear"
	const n = 2*evalRows + 7
	c := newClassifier(t, "go", s, n, 1)
	x, rows, want := make([]float32, n), make([]int32, n), make([]int32, n)
	for i := range x {
		x[i], rows[i] = float32(i%10)-4.5, int32(n-1-i)
	}
	values := c.Init(0, 0)
	for i, p := range c.params {
		switch p.Name {
		case inputMean:
			values[i] = []float32{2}
		case "output/weights":
			values[i] = []float32{-1, 1} // class 1 where x > 2
		}
	}
	for i, row := range rows {
		if x[row] > 2 {
			want[i] = 1
		}
	}
	pool := tensors.FromFlatDataAndDimensions(x, n, 1)
	got, err := c.Predict(context.Background(), pool, values, rows)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("predictions differ: %v", err)
	}
	if _, err := c.Predict(demand.Cancelled(), pool, values, rows); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAccuracy(t *testing.T) {
	test := Samples{Label: []int32{0, 1, 2, 1}}
	predicted := []int32{0, 1, 1, 0}
	demand.Equal(t, Accuracy(predicted, test), .5, "accuracy")
	test.Weight = []float64{.1, .2, .3, .4}
	if got := Accuracy(predicted, test); math.Abs(got-.3) > 1e-15 {
		t.Errorf("weighted accuracy %v, want .3", got)
	}
}

func TestUpdates(t *testing.T) {
	for _, c := range []struct{ n, epochs, batch, limit, want int }{
		{100, 2, 50, 0, 4}, {101, 2, 50, 0, 5}, {100, 2, 50, 3, 3}, {100, 2, 50, 30, 4}, {100, 0, 50, 0, 0},
		{10, 1, 50, 0, 1},
	} {
		demand.Equal(t, updatesOf(c.n, c.epochs, c.batch, c.limit), c.want, "updates of %+v", c)
	}
}

// TestMinibatches: each epoch has every sample once, with its own label and weight, also if a minibatch is larger than
// the set, and where minibatches have no weights.
func TestMinibatches(t *testing.T) {
	data := Samples{Row: []int32{10, 11, 12, 13, 14, 15, 16, 17, 18}, Label: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8}}
	weight := []float32{.0, .1, .2, .3, .4, .5, .6, .7, .8}
	for _, b := range []struct {
		weight []float32
		size   int
	}{{weight, 6}, {nil, 6}, {weight, 12}, {nil, 12}} {
		next := minibatches(data, b.weight, b.size, batchOrder(0, 0, 0))
		var seen []int32
		for len(seen) < 36 { // four epochs
			parts := next(5, 3) // 3 of 5 minibatches
			demand.Equal(t, len(parts), map[bool]int{true: 3, false: 2}[b.weight != nil], "parts")
			row, label := tensors.MustCopyFlatData[int32](parts[0]), tensors.MustCopyFlatData[int32](parts[1])
			demand.Equal(t, len(row), 5*b.size, "rows of 5 minibatches")
			for i := range 3 * b.size {
				demand.Equal(t, label[i], row[i]-10, "label of row %d", row[i])
				if b.weight != nil {
					w := tensors.MustCopyFlatData[float32](parts[2])
					demand.Equal(t, w[i], weight[label[i]], "weight of row %d", row[i])
				}
			}
			seen = append(seen, row[:3*b.size]...)
		}
		for epoch := range 4 {
			part := slices.Sorted(slices.Values(seen[9*epoch : 9*epoch+9]))
			demand.List(t, part, data.Row, "rows of epoch %d", epoch)
		}
		if slices.Equal(seen[:9], seen[9:18]) {
			t.Error("two epochs have the same order")
		}
	}
}

// The two modes of batch normalisation train differently, and each starts every step from scratch.
func TestHeadSettings(t *testing.T) {
	im, s := fakeImages(t, 200, 50, 8), imageSettings()
	results := map[string]net.Values{}
	for _, s.BatchNorm = range choices["batch-norm"] {
		b := imageRun(t, "go", s, im)
		results[s.BatchNorm] = trained(t, b, named("recent"), 2)
		moved := false
		for i, p := range b.Classifier.params {
			if !p.Trainable {
				moved = moved || !slices.Equal(results[s.BatchNorm][i], b.Start(2)[i])
			}
		}
		demand.Equal(t, moved, s.BatchNorm == "batch", "batch-norm %s: the averages move", s.BatchNorm)
		if sameBits(b.Start(2), b.Start(3)) == nil {
			t.Error("steps 2 and 3 start from the same random weights")
		}
	}
	if sameBits(results["batch"], results["frozen"]) == nil {
		t.Error("batch-norm changes nothing")
	}
}
