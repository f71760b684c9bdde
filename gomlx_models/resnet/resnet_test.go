package resnet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestParameterCount compares with the counts of the literature.
func TestParameterCount(t *testing.T) {
	for width, want := range map[int]int{16: 701_466, 64: 11_173_962} {
		params, err := Params(open(t, "go"), width)
		demand.NoError(t, err)
		trainable, state := 0, 0
		for _, p := range params {
			if p.Trainable {
				trainable += p.Size()
			} else {
				state += p.Size()
			}
			if p.Decay != (strings.HasSuffix(p.Name, "kernel") || strings.HasSuffix(p.Name, "weights")) {
				t.Errorf("%s: weight decay is %v", p.Name, p.Decay)
			}
		}
		channels := width + 4*width + 5*(2+4+8)*width // norms: the stem, four in stage 1, five in the others
		if trainable != want || state != 2*channels {
			t.Errorf("width %d: %d trainable parameters, want %d; %d averages, want %d",
				width, trainable, want, state, 2*channels)
		}
	}
}

var cuts = []Cut{LastStage, LastBlock}

// standardised is image i as [32, 32, 3], normalised with the constants of Wu et al. (2021).
func standardised(im Images, i int) []float32 {
	mean, std := [3]float64{.4914, .4822, .4465}, [3]float64{.2023, .1994, .2010}
	out := make([]float32, 0, imageBytes)
	for at := range 1024 {
		for c := range 3 {
			out = append(out, float32((float64(im.Pixels[i*imageBytes+c*1024+at])/255-mean[c])/std[c]))
		}
	}
	return out
}

// loops computes the network in loops, as reference for TestForward.
type loops struct {
	values map[string][]float32 // by parameter name
}

// featureMap has the shape [side, side, channels].
type featureMap struct {
	side, channels int
	at             []float32
}

func (l loops) conv(name string, x featureMap, out, kernel, stride int) featureMap {
	y := featureMap{side: (x.side-1)/stride + 1, channels: out}
	y.at = make([]float32, y.side*y.side*out)
	w := l.values[name+"/kernel"]
	for i := range y.at {
		r, c, o := i/(y.side*out), i/out%y.side, i%out
		sum := 0.0
		for k := range kernel * kernel * x.channels {
			row, col, ch := r*stride+k/(kernel*x.channels)-kernel/2, c*stride+k/x.channels%kernel-kernel/2, k%x.channels
			if row >= 0 && row < x.side && col >= 0 && col < x.side {
				sum += float64(x.at[(row*x.side+col)*x.channels+ch]) * float64(w[k*out+o])
			}
		}
		y.at[i] = float32(sum)
	}
	return y
}

func (l loops) norm(name string, x featureMap) featureMap {
	get := func(part string, i int) float64 { return float64(l.values[name+"/"+part][i%x.channels]) }
	y := featureMap{x.side, x.channels, make([]float32, len(x.at))}
	for i, v := range x.at {
		y.at[i] = float32((float64(v)-get("mean", i))/math.Sqrt(get("variance", i)+1e-5)*get("scale", i) + get("offset", i))
	}
	return y
}

func relu(x featureMap) featureMap {
	for i, v := range x.at {
		x.at[i] = max(v, 0)
	}
	return x
}

func (l loops) block(name string, x featureMap, out, stride int) featureMap {
	y := relu(l.norm(name+"/norm1", l.conv(name+"/conv1", x, out, 3, stride)))
	y = l.norm(name+"/norm2", l.conv(name+"/conv2", y, out, 3, 1))
	if stride != 1 || x.channels != out {
		x = l.norm(name+"/shortcut/norm", l.conv(name+"/shortcut", x, out, 1, stride))
	}
	for i := range y.at {
		y.at[i] += x.at[i]
	}
	return relu(y)
}

// forward returns the trunk's features below each cut and the logits of one image.
func (l loops) forward(image []float32, width int) (features map[Cut][]float32, logits []float32) {
	x := relu(l.norm("stem/norm", l.conv("stem", featureMap{32, 3, image}, width, 3, 1)))
	features = map[Cut][]float32{}
	for i, stride := range []int{1, 2, 2, 2} {
		name := fmt.Sprintf("stage%d", i+1)
		x = l.block(name+"/block1", x, width<<i, stride)
		if i == 3 {
			features[LastBlock] = slices.Clone(x.at)
		}
		x = l.block(name+"/block2", x, width<<i, 1)
		if i == 2 {
			features[LastStage] = slices.Clone(x.at)
		}
	}
	logits = slices.Clone(l.values["classifier/biases"])
	for i, v := range x.at {
		for k := range logits {
			logits[k] += v / 16 * l.values["classifier/weights"][i%x.channels*10+k]
		}
	}
	return features, logits
}

// TestForward compares the trunk's features and the head's logits for both cuts, and the logits of full with loops.
func TestForward(t *testing.T) {
	const width = 2
	c, im := randomCheckpoint(t, width), noise(2)
	l := loops{map[string][]float32{}}
	for i, p := range c.Params {
		l.values[p.Name] = c.Values[i]
	}
	features := map[Cut][]float32{}
	var logits []float32
	for i := range im.Len() {
		f, y := l.forward(standardised(im, i), width)
		for _, cut := range cuts {
			features[cut] = append(features[cut], f[cut]...)
		}
		logits = append(logits, y...)
	}
	for _, name := range []string{"", "go"} {
		for _, cut := range cuts {
			got, err := cut.Features(context.Background(), open(t, name), c, width, im, nil)
			demand.NoError(t, err)
			demand.Floats(t, "features", got, features[cut], 1e-3)
			demand.Floats(t, "head", runHead(t, name, cut, cut.Head, c, features[cut], width), logits, 1e-3)
		}
		demand.Floats(t, "head with Winograd's convolutions",
			runHead(t, name, LastBlock, WinogradHead, c, features[LastBlock], width), logits, 1e-3)
		pixels := tensors.FromFlatDataAndDimensions(im.Pixels, im.Len(), 3, 32, 32)
		got := apply(t, name, c.Params, c.Values, pixels, func(s *net.Scope, x *Node) *Node { return full(s, x, width) })
		demand.Floats(t, "whole network", got, logits, 1e-3)
	}
}

// runHead returns the head's logits for features.
func runHead(t *testing.T, name string, cut Cut, head func(s *net.Scope, x *Node, bn net.BatchNormMode) *Node,
	c *net.Checkpoint, features []float32, width int) []float32 {
	t.Helper()
	params, err := cut.HeadParams(open(t, name), width)
	demand.NoError(t, err)
	values, err := c.Select(params, "")
	demand.NoError(t, err)
	n := len(features) / cut.Size(width)
	x := tensors.FromFlatDataAndDimensions(features, n, cut.Side(), cut.Side(), cut.Channels(width))
	return apply(t, name, params, values, x,
		func(s *net.Scope, x *Node) *Node { return head(s, x, net.BatchStatistics) })
}

// apply evaluates fn on the named backend, without training.
func apply(t *testing.T, name string, params []net.Param, values net.Values, x *tensors.Tensor,
	fn func(s *net.Scope, x *Node) *Node) []float32 {
	t.Helper()
	exec, err := NewExec(open(t, name), func(in []*Node) []*Node {
		return []*Node{fn(net.Bind(in[0].Graph(), params, in[1:], false), in[0])}
	})
	demand.NoError(t, err)
	defer exec.Finalize()
	out, err := net.RunValues(exec, x, values.Tensors(params))
	demand.NoError(t, err)
	return out[0]
}

// TestFeaturesInBatches uses more images than a batch, so that the last batch is padded.
func TestFeaturesInBatches(t *testing.T) {
	c, im := randomCheckpoint(t, 1), noise(featureBatch+3)
	var reports []int
	report := func(done, of int) { reports = append(reports, done, of) }
	all, err := LastBlock.Features(context.Background(), open(t, ""), c, 1, im, report)
	demand.NoError(t, err)
	last := Images{Pixels: im.Pixels[featureBatch*imageBytes:], Labels: im.Labels[featureBatch:]}
	want, err := LastBlock.Features(context.Background(), open(t, ""), c, 1, last, nil)
	demand.NoError(t, err)
	demand.Floats(t, "features of the last images", all[featureBatch*LastBlock.Size(1):], want, 0)
	if want := []int{250, 253, 253, 253}; !slices.Equal(reports, want) {
		t.Errorf("reported %v, want %v", reports, want)
	}
	if _, err := LastBlock.Features(demand.Cancelled(), open(t, ""), c, 1, im, nil); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	_, err = LastBlock.Features(context.Background(), open(t, ""), c, 2, im, nil)
	demand.Error(t, err, "stem/kernel", "width")
}
