// Package resnet is ResNet-18 (He et al. 2016) with the CIFAR stem, in any width: training
// from scratch, features below the last block or stage, and checkpoints.
//
// The paper (Section 3.1.3) pre-trains ResNet-18 on CIFAR-10 and then trains only the final
// convolution block and the classifier at every time step. So the network here has two parts:
// the trunk, a fixed function of the image whose features are computed once, and the head,
// which package supervised trains again at each step.
package resnet

import (
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// blocks are the basic blocks of ResNet-18: four stages of two, channels as multiples
// of the width.
var blocks = []struct {
	name     string
	channels int // times the width
	stride   int
}{
	{"stage1/block1", 1, 1}, {"stage1/block2", 1, 1}, {"stage2/block1", 2, 2}, {"stage2/block2", 2, 1},
	{"stage3/block1", 4, 2}, {"stage3/block2", 4, 1}, {"stage4/block1", 8, 2}, {"stage4/block2", 8, 1},
}

// classes is the number of classes of CIFAR-10.
const classes = 10

// Cut is the place between trunk and head: the number of basic blocks in the trunk. The paper's
// "final convolution block" can mean either of the two below.
type Cut int

const (
	// LastStage: the head has both blocks of the last stage. Features [8, 8, 4*width].
	LastStage Cut = 6
	// LastBlock: the head has the last basic block. Features [4, 4, 8*width].
	LastBlock Cut = 7
)

// Side is the height and width of the trunk's feature map.
func (c Cut) Side() int {
	side := 32
	for _, b := range blocks[:c] {
		side /= b.stride
	}
	return side
}

// Channels is the number of channels of the trunk's feature map at a width.
func (c Cut) Channels(width int) int { return blocks[c-1].channels * width }

// Size is the number of values of the trunk's feature map at a width.
func (c Cut) Size(width int) int { return c.Side() * c.Side() * c.Channels(width) }

// The normalisation of Wu et al. (2021, online label shift), which is usual for CIFAR-10.
var (
	channelMean = []float32{.4914, .4822, .4465}
	channelStd  = []float32{.2023, .1994, .2010}
)

// normalize returns (pixel/255 - mean) / std of each channel, with the channels last. images:
// [batch, 3, 32, 32] uint8, result: [batch, 32, 32, 3] float32.
func normalize(images *Node) *Node {
	g := images.Graph()
	x := TransposeAllAxes(ConvertDType(images, dtypes.Float32), 0, 2, 3, 1)
	mean := Reshape(Const(g, channelMean), 1, 1, 1, 3)
	std := Reshape(Const(g, channelStd), 1, 1, 1, 3)
	return Div(Sub(DivScalar(x, 255), mean), std)
}

// trunk is the network below the cut. x: [batch, 32, 32, 3] from normalize, result:
// [batch, Side(), Side(), Channels(width)].
func (c Cut) trunk(s *net.Scope, x *Node, width int) *Node {
	x = net.Conv(s.In("stem"), x, width, 3, 1)
	x = net.Relu(net.BatchNorm(s.In("stem/norm"), x, net.BatchStatistics))
	for _, b := range blocks[:c] {
		x = basicBlock(s.In(b.name), x, b.channels*width, b.stride, net.BatchStatistics, direct)
	}
	return x
}

// Head is the network above the cut: its blocks, the average pool and the classifier. The
// label-shift experiments train it. x: features of the trunk, [batch, Side(), Side(),
// Channels(width)], result: logits [batch, 10].
func (c Cut) Head(s *net.Scope, x *Node, bn net.BatchNormMode) *Node {
	width := x.Shape().Dim(-1) / blocks[c-1].channels
	for _, b := range blocks[c:] {
		x = basicBlock(s.In(b.name), x, b.channels*width, b.stride, bn, direct)
	}
	return net.Dense(s.In("classifier"), ReduceMean(x, 1, 2), classes, net.Lecun)
}

// WinogradHead is LastBlock.Head with Winograd's convolutions, which on the CPU are trained 1.5 times as fast. Results
// differ in the last digits.
func WinogradHead(s *net.Scope, x *Node, bn net.BatchNormMode) *Node {
	x = TransposeAllAxes(x, 1, 2, 0, 3) // the places first, as net.WinogradConv has them
	for _, b := range blocks[LastBlock:] {
		x = basicBlock(s.In(b.name), x, x.Shape().Dim(-1), b.stride, bn, winograd)
	}
	return net.Dense(s.In("classifier"), ReduceMean(x, 0, 1), classes, net.Lecun)
}

// direct and winograd are the 3x3 convolutions of a block. winograd has stride 1 and the places of a map first.
func direct(s *net.Scope, x *Node, channels, stride int) *Node {
	return net.Conv(s, x, channels, 3, stride)
}
func winograd(s *net.Scope, x *Node, channels, _ int) *Node { return net.WinogradConv(s, x, channels) }

// basicBlock is relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)). The shortcut is the
// identity, or a 1x1 convolution and norm if the shape changes.
// x: [batch, h, w, in], result: [batch, h/stride, w/stride, channels].
func basicBlock(s *net.Scope, x *Node, channels, stride int, bn net.BatchNormMode,
	conv func(s *net.Scope, x *Node, channels, stride int) *Node) *Node {
	y := conv(s.In("conv1"), x, channels, stride)
	y = net.Relu(net.BatchNorm(s.In("norm1"), y, bn))
	y = conv(s.In("conv2"), y, channels, 1)
	y = net.BatchNorm(s.In("norm2"), y, bn)
	if stride != 1 || x.Shape().Dim(-1) != channels {
		x = net.Conv(s.In("shortcut"), x, channels, 1, stride)
		x = net.BatchNorm(s.In("shortcut/norm"), x, bn)
	}
	return net.Relu(Add(y, x))
}

// full is the whole network: normalize, trunk and head. images: [batch, 3, 32, 32] uint8,
// result: logits [batch, 10].
func full(s *net.Scope, images *Node, width int) *Node {
	return LastBlock.Head(s, LastBlock.trunk(s, normalize(images), width), net.BatchStatistics)
}
