package supervised

import (
	"math"
	"testing"

	"tvps/data/labelshift"
	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

const cloudDim = 3

// clouds returns a label-shift stream whose best classifier is known: class y is a normal distribution with unit
// variances around a centre of its own. Under the label distribution pi the best classifier is argmax log pi(y) -
// |x - centre_y|^2 / 2, which is linear in x. Rows below perClass * classes train, the others test.
func clouds(perClass int, shift labelshift.Shift) (stream *Stream, centres [][]float64) {
	rng := random.New(0, "continual test", "label shift")
	for range shift.Classes {
		centres = append(centres, []float64{1.2 * rng.NormFloat64(), 1.2 * rng.NormFloat64(), 1.2 * rng.NormFloat64()})
	}
	var x []float32
	rows := [2][][]int32{make([][]int32, shift.Classes), make([][]int32, shift.Classes)}
	for part := range rows {
		for y, centre := range centres {
			for range perClass {
				rows[part][y] = append(rows[part][y], int32(len(x)/cloudDim))
				for _, c := range centre {
					x = append(x, float32(c+rng.NormFloat64()))
				}
			}
		}
	}
	return &Stream{
		Classes: shift.Classes, X: x,
		Pool: tensors.FromFlatDataAndDimensions(x, len(x)/cloudDim, cloudDim),
		Train: func(t int) Samples {
			drawn, labels := shift.Draw(0, "train", t, 500, rows[0])
			return Samples{Row: drawn, Label: labels}
		},
		Test:     func(t int) Samples { return weighted(rows[1], shift.Prior(t)) },
		LogRatio: func(_, label int32, T, t int) float64 { return shift.LogRatio(int(label), T, t) },
	}, centres
}

// bayes returns the accuracy on weighted test samples of the best classifier under the label distribution pi.
func bayes(stream *Stream, centres [][]float64, test Samples, pi []float64) float64 {
	predicted := make([]int32, test.Len())
	for i, row := range test.Row {
		best := math.Inf(-1)
		for y, centre := range centres {
			score := math.Log(pi[y])
			for j, c := range centre {
				d := float64(stream.X[int(row)*cloudDim+j]) - c
				score -= d * d / 2
			}
			if score > best {
				best, predicted[i] = score, int32(y)
			}
		}
	}
	return Accuracy(predicted, test)
}

// effectivePrior returns the label distribution of the training samples of steps 0 to t, of which a sample of a class
// with the probability then at its step and now at step t has the mass mass(now, then).
func effectivePrior(shift labelshift.Shift, t int, mass func(now, then float64) float64) []float64 {
	now, pi, total := shift.Prior(t), make([]float64, shift.Classes), 0.
	for past := range t + 1 {
		for y, then := range shift.Prior(past) {
			pi[y] += mass(now[y], then)
			total += mass(now[y], then)
		}
	}
	for y := range pi {
		pi[y] /= total
	}
	return pi
}

// TestLabelPriorPrediction: under label shift, weights change little but the label distribution that a learner sees.
// So the Bayes classifier under that distribution predicts, without training, the accuracy of Everything and of the
// exact omega with each clip.
func TestLabelPriorPrediction(t *testing.T) {
	shift := labelshift.CIFAR10b
	stream, centres := clouds(2000, shift)
	s := gaussianSettings()
	s.Network, s.Batch, s.Epochs, s.MaxUpdates, s.Rate = "linear", 256, 1000, 1500, 1e-2
	c, err := NewClassifier(open(t, "").Backend, s, stream.Pool.Shape(), stream.Classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{15, 22} {
		var predictions []float64
		for _, k := range []struct {
			learner string
			clip    propensity.ClipPolicy
			mass    func(now, then float64) float64 // then * the weight of now / then
		}{
			{"everything", "none", func(_, then float64) float64 { return then }},
			{"exact", "min1", func(now, then float64) float64 { return min(now, then) }},
			{"exact", "exp1", func(now, then float64) float64 { return min(now, math.E*then) }},
			{"exact", "none", func(now, _ float64) float64 { return now }},
		} {
			s.Clip = k.clip
			b := &RunContext{Settings: s, Stream: stream, Classifier: c, Start: func(t int) net.Values { return c.Init(0, t) }}
			got := accuracyOf(t, b, named(k.learner), at)
			want := bayes(stream, centres, stream.Test(at+1), effectivePrior(shift, at, k.mass))
			predictions = append(predictions, want)
			if math.Abs(got-want) > .02 {
				t.Errorf("step %d, %s, clip %s: accuracy %.3f, but the label prior predicts %.3f", at, k.learner, k.clip, got, want)
			}
		}
		if predictions[3] < predictions[0]+.05 {
			t.Errorf("the predictions %v are too close for a test", predictions)
		}
	}
}
