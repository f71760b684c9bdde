package continual

import (
	"math"
	"testing"

	"tvps/data/labelshift"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// pretrainedLogits returns the outputs of the network before it is adapted, for some rows of the pool:
// [rows][classes].
func pretrainedLogits(t *testing.T, im *images, width int, rows []int32) [][]float64 {
	t.Helper()
	engine := open(t, "").Backend
	params, err := resnet.LastBlock.HeadParams(engine, width, net.NativeConv, net.BatchStatistics)
	if err != nil {
		t.Fatal(err)
	}
	exec, err := NewExec(engine, func(in []*Node) []*Node {
		x := ConvertDType(Gather(in[0], ExpandAxes(in[1], -1)), dtypes.Float32)
		x = Reshape(x, -1, resnet.LastBlock.Side(), resnet.LastBlock.Side(), resnet.LastBlock.Channels(width))
		s := net.Bind(x.Graph(), params, in[2:], false)
		return []*Node{resnet.LastBlock.Head(s, x, net.NativeConv, net.BatchStatistics)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := net.Run(exec, im.pool, tensors.FromValue(rows), im.head.Tensors(params))
	if err != nil {
		t.Fatal(err)
	}
	flat, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		t.Fatal(err)
	}
	logits := make([][]float64, len(rows))
	for i := range flat {
		logits[i/resnet.Classes] = append(logits[i/resnet.Classes], float64(flat[i]))
	}
	return logits
}

// recalibrated is the accuracy of argmax logits + log pi on weighted test samples.
func recalibrated(logits [][]float64, test Samples, pi []float64) float64 {
	predicted := make([]int32, test.Len())
	for i, l := range logits {
		best := math.Inf(-1)
		for y := range l {
			if score := l[y] + math.Log(pi[y]); score > best {
				best, predicted[i] = score, int32(y)
			}
		}
	}
	return Accuracy(predicted, test)
}

// TestLabelPriorOnImages: real images, the committed network. The logits of the network that is not adapted, plus the
// logarithm of labelshift.EffectivePrior, predict the gain of the exact omega over Everything with and without a
// clip. The trained block is a little worse than predicted at each step: it learns from few images.
func TestLabelPriorOnImages(t *testing.T) {
	if testing.Short() {
		t.Skip("trains the last block of ResNet-18 on real images, half a minute")
	}
	const at = 45 // in the eighth pair of classes, three steps of six on
	s := imageSettings()
	s.Width, s.Data, s.N, s.Steps, s.Batch, s.Epochs, s.MaxUpdates, s.Rate = 16, "sample", 200, 120, 128, 20, 100, 9e-4
	h := newHost(t, "")
	type outcome struct{ accuracy, predicted float64 }
	found := map[labelshift.Kind]outcome{}
	for _, k := range []struct {
		learner string
		clip    propensity.ClipPolicy
		kind    labelshift.Kind
	}{
		{"everything", "none", labelshift.Everything}, {"exact", "min1", labelshift.ClipOne},
		{"exact", "none", labelshift.NoClip},
	} {
		s.Clip = k.clip
		b := newRun(t, h, s, k.learner, 0, "")
		test := b.Stream.Test(at + 1)
		data, err := libraryOf(h).cifar10(s, false)
		if err != nil {
			t.Fatal(err)
		}
		im, err := libraryOf(h).images(t.Context(), s, 0, data)
		if err != nil {
			t.Fatal(err)
		}
		logits := pretrainedLogits(t, im, s.Width, test.Row)
		prior := labelshift.CIFAR10b.EffectivePrior(k.kind, at)
		o := outcome{accuracyOf(t, b, named(k.learner), at), recalibrated(logits, test, prior)}
		t.Logf("step %d, %s: accuracy %.3f, predicted %.3f", at, k.kind, o.accuracy, o.predicted)
		if math.Abs(o.accuracy-o.predicted) > .03 {
			t.Errorf("step %d, %s: accuracy %.3f, but the label prior predicts %.3f", at, k.kind, o.accuracy, o.predicted)
		}
		base := found[labelshift.Everything]
		gain, want := o.accuracy-base.accuracy, o.predicted-base.predicted
		if k.learner == "exact" && math.Abs(gain-want) > .01 {
			t.Errorf("step %d, %s: a gain of %.3f over Everything, but the label prior predicts %.3f", at, k.kind, gain, want)
		}
		found[k.kind] = o
	}
}
