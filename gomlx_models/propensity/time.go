package propensity

import (
	"math"
	"slices"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// TimeEncoding is how t enters g. It always enters before the first nonlinearity: added
// later, g would be a(x) + c(t), and omega the same for all samples.
//
// An encoding is either fixed, a function of t, or learned, a vector for each fitted time.
// A fixed one also knows the times between the fitted ones, and continuous times.
type TimeEncoding string

const (
	// TimeScalar is t scaled to [-1, 1] over the fitted times. It learns slowly.
	TimeScalar TimeEncoding = "scalar"
	// TimeFourier is sin and cos of pi k u for k = 1..Frequencies, with u being t scaled to
	// [0, 1] over the fitted times.
	TimeFourier TimeEncoding = "fourier"
	// TimePeriods is sin and cos of 2 pi t/P for Frequencies periods P from 4 to 4096 units
	// of time, in geometric steps. The code of a time stays the same while later times are
	// added, and it resolves changes within a few units even after thousands.
	TimePeriods TimeEncoding = "periods"
	// TimeEmbedding is a learned vector for each time, mapped linearly to the first layer.
	TimeEmbedding TimeEncoding = "embedding"
	// TimeOneHot is a learned vector for each time, added to the first layer's
	// pre-activations.
	TimeOneHot TimeEncoding = "onehot"
)

// encoding declares one time encoding.
type encoding struct {
	name TimeEncoding
	// frequencies are the angular frequencies of a fixed encoding's sines and cosines, given
	// their number. Without any its code is u, scaled to [-1, 1].
	frequencies func(n int) []float64
	absolute    bool // the sines are of t itself, not of u
	// learned is what a learned encoding adds to the first layer's pre-activations, [batch,
	// width]; nil for a fixed one.
	learned func(s *net.Scope, t Times, width int) *Node
}

// encodings declares every time encoding: a new one is one more entry.
var encodings = []encoding{
	{name: TimeScalar},
	{name: TimeFourier, frequencies: halfCycles},
	{name: TimePeriods, absolute: true, frequencies: func(n int) []float64 {
		out := make([]float64, n)
		for k := range out {
			period := 4 * math.Pow(1024, float64(k)/float64(max(1, n-1)))
			out[k] = 2 * math.Pi / period
		}
		return out
	}},
	{name: TimeEmbedding, learned: func(s *net.Scope, t Times, width int) *Node {
		e := net.Embedding(s.In("time"), t.index, t.table.Shape().Dim(0), embeddingDim)
		return net.Dense(s.In("time/map"), e, width, net.Lecun)
	}},
	{name: TimeOneHot, learned: func(s *net.Scope, t Times, width int) *Node {
		return net.Embedding(s.In("time"), t.index, t.table.Shape().Dim(0), width)
	}},
}

const embeddingDim = 8

// halfCycles are the angular frequencies of 1, 2, ... n half cycles in a unit of time.
func halfCycles(n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = math.Pi * float64(k+1)
	}
	return out
}

// Encodings lists all time encodings.
func Encodings() (out []TimeEncoding) {
	for _, e := range encodings {
		out = append(out, e.name)
	}
	return out
}

// ContinuousEncodings lists the fixed time encodings: those for Continuous times, and for a
// T between the fitted times.
func ContinuousEncodings() []TimeEncoding {
	return slices.DeleteFunc(Encodings(), func(t TimeEncoding) bool { return t.spec().learned != nil })
}

// spec is the declaration of that name, empty if there is none.
func (t TimeEncoding) spec() encoding {
	if i := slices.IndexFunc(encodings, func(e encoding) bool { return e.name == t }); i >= 0 {
		return encodings[i]
	}
	return encoding{}
}

// Times are the times of the samples of a minibatch in the graph: one of the fitted times
// each (Estimator), or any numbers (Continuous).
type Times struct {
	index, table *Node // fitted: [batch] int32; codes of all fitted times, [times, width] float32
	t, last      *Node // continuous
}

// fittedTimes names each sample's time by its index in the table.
func fittedTimes(index, table *Node) Times { return Times{index: index, table: table} }

// Continuous are times between 0 and last, which fixed encodings encode inside the graph; u
// is t/last. t: [batch], last: [1]; with batched seeds [seeds, batch] and [seeds, 1].
func Continuous(t, last *Node) Times { return Times{t: t, last: last} }

// Last is the last of continuous times, T, for every sample.
func (t Times) Last() Times {
	t.t = Add(ZerosLike(t.t), t.last)
	return t
}

// values holds one entry per sample.
func (t Times) values() *Node {
	if t.index != nil {
		return t.index
	}
	return t.t
}

// batchAxis is the axis of samples: 0, or 1 behind that of batched seeds.
func (t Times) batchAxis() int { return t.values().Rank() - 1 }

// concatenate appends other times of the same kind along the axis of samples.
func (t Times) concatenate(other Times) Times {
	both := Concatenate([]*Node{t.values(), other.values()}, t.batchAxis())
	if t.index != nil {
		return fittedTimes(both, t.table)
	}
	t.t = both
	return t
}

// unit is the time of every sample, scaled to [0, 1]; of continuous times.
func (t Times) unit() *Node { return Div(t.t, MaxScalar(t.last, 1)) }

// code is the fixed encoding of every sample's time, [batch, width].
func (t Times) code(c Config) *Node {
	e := c.Time.spec()
	switch {
	case t.index != nil:
		return Gather(t.table, ExpandAxes(t.index, -1))
	case e.frequencies == nil:
		return ExpandAxes(AddScalar(MulScalar(t.unit(), 2), -1), -1)
	}
	u := t.t
	if !e.absolute {
		u = t.unit()
	}
	var waves []*Node
	for _, frequency := range e.frequencies(c.Frequencies) {
		phase := MulScalar(u, frequency)
		waves = append(waves, Sin(phase), Cos(phase))
	}
	return Stack(waves, -1)
}

// encode is code on the host, for the table of fitted times: u is t scaled to [0, 1] between first and last. A learned
// encoding needs only the number of rows, and has the code of TimeScalar. Result: [len(times)][width].
func encode(c Config, times []float64, first, last float64) [][]float32 {
	e, out := c.Time.spec(), make([][]float32, len(times))
	for i, t := range times {
		u := (t - first) / (last - first)
		if e.frequencies == nil {
			out[i] = []float32{float32(2*u - 1)}
			continue
		}
		if e.absolute {
			u = t
		}
		for _, frequency := range e.frequencies(c.Frequencies) {
			phase := frequency * u
			out[i] = append(out[i], float32(math.Sin(phase)), float32(math.Cos(phase)))
		}
	}
	return out
}
