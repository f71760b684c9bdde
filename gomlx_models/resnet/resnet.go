// Package resnet is ResNet-18 (He et al. 2016) with the CIFAR stem, in any width:
// its training from scratch, its features below the last block, and its checkpoints.
//
// The paper (Section 3.1.3) pre-trains ResNet-18 on CIFAR-10 and then trains only
// the final convolution block and the classifier at every time step. So the network
// here is cut in two: the Trunk, a fixed function of the image whose features are
// computed once, and the Head, which package continual trains anew at each step.
package resnet

import (
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Stages of ResNet-18: two basic blocks each, channels as multiples of the width.
var stages = []struct {
	name     string
	channels int // times the width
	stride   int
}{{"stage1", 1, 1}, {"stage2", 2, 2}, {"stage3", 4, 2}, {"stage4", 8, 2}}

const (
	// Classes is the number of classes of CIFAR-10.
	Classes = 10
	// FeatureSide is the side of the trunk's feature map: [4, 4, 8*width].
	FeatureSide = 4
)

// mean and std of the training images' channels (facts on online label shift, Wu et al. 2021).
var (
	channelMean = []float32{.4914, .4822, .4465}
	channelStd  = []float32{.2023, .1994, .2010}
)

// FeatureChannels is the number of channels of the trunk's output at a width.
func FeatureChannels(width int) int { return 8 * width }

// FeatureSize is the number of values of the trunk's output at a width.
func FeatureSize(width int) int { return FeatureSide * FeatureSide * FeatureChannels(width) }

// Normalize turns bytes in the official plane order into standardised channels-last
// pixels. images: [batch, 3, 32, 32] uint8, result: [batch, 32, 32, 3] float32.
func Normalize(images *Node) *Node {
	g := images.Graph()
	x := TransposeAllAxes(ConvertDType(images, dtypes.Float32), 0, 2, 3, 1)
	mean := Reshape(Const(g, channelMean), 1, 1, 1, 3)
	std := Reshape(Const(g, channelStd), 1, 1, 1, 3)
	return Div(Sub(DivScalar(x, 255), mean), std)
}

// Trunk is everything below the last basic block.
// x: [batch, 32, 32, 3] standardised, result: [batch, 4, 4, 8*width].
func Trunk(s *net.Scope, x *Node, width int) *Node {
	x = net.Conv(s.In("stem"), x, width, 3, 1, net.NativeConv)
	x = net.Relu(net.BatchNorm(s.In("stem/norm"), x, net.BatchStatistics))
	for i, stage := range stages {
		x = BasicBlock(s.In(stage.name+"/block1"), x, stage.channels*width, stage.stride, net.NativeConv, net.BatchStatistics)
		if i < len(stages)-1 {
			x = BasicBlock(s.In(stage.name+"/block2"), x, stage.channels*width, 1, net.NativeConv, net.BatchStatistics)
		}
	}
	return x
}

// Head is the last basic block, the average pool and the classifier: the part that
// the label-shift experiments train. x: [batch, 4, 4, channels], result: [batch, 10].
func Head(s *net.Scope, x *Node, conv net.ConvMode, bn net.BatchNormMode) *Node {
	x = BasicBlock(s.In("stage4/block2"), x, x.Shape().Dim(-1), 1, conv, bn)
	return net.Dense(s.In("classifier"), ReduceMean(x, 1, 2), Classes, net.Lecun)
}

// BasicBlock is relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)), with a 1x1
// convolution and norm as shortcut where the shape changes.
// x: [batch, h, w, in], result: [batch, h/stride, w/stride, channels].
func BasicBlock(s *net.Scope, x *Node, channels, stride int, conv net.ConvMode, bn net.BatchNormMode) *Node {
	y := net.Conv(s.In("conv1"), x, channels, 3, stride, conv)
	y = net.Relu(net.BatchNorm(s.In("norm1"), y, bn))
	y = net.Conv(s.In("conv2"), y, channels, 3, 1, conv)
	y = net.BatchNorm(s.In("norm2"), y, bn)
	if stride != 1 || x.Shape().Dim(-1) != channels {
		x = net.Conv(s.In("shortcut"), x, channels, 1, stride, conv)
		x = net.BatchNorm(s.In("shortcut/norm"), x, bn)
	}
	return net.Relu(Add(y, x))
}

// Full is Trunk and Head together. images: [batch, 3, 32, 32] uint8, result: [batch, 10].
func Full(s *net.Scope, images *Node, width int) *Node {
	return Head(s, Trunk(s, Normalize(images), width), net.NativeConv, net.BatchStatistics)
}
