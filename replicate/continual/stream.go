package continual

import (
	"slices"

	"tvps/data/cifar10"
	"tvps/data/gaussian"
	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// Samples are labelled rows of a stream's pool.
type Samples struct {
	Row, Label []int32
	Time       []int32   // the step that each was drawn at
	Weight     []float64 // nil: 1 each
}

// Len is the number of samples.
func (s Samples) Len() int { return len(s.Row) }

// Stream is a scenario under one seed: labelled samples for every step and what is
// needed to learn from them. Every scenario is of this form, so one protocol serves
// all.
type Stream struct {
	Classes  int
	Head     net.Values                               // the pre-trained model; nil if there is none
	Pool     *tensors.Tensor                          // inputs of the classifier, [rows, dims...] float32
	X        []float32                                // the pool on the host, where the classifier standardises it; else nil
	GPool    *propensity.Pool                         // inputs of g, the same rows
	Train    func(t int) Samples                      // training samples of step t
	Test     func(t int) Samples                      // test samples of step t, possibly weighted
	LogRatio func(row, label int32, T, t int) float64 // exact log p_T(x,y) / p_t(x,y)
	Input    func(row int32, input string) []float32  // a row's pixels or features on the host, images only
}

// Upto gathers the training samples of steps first..last.
func (s *Stream) Upto(first, last int) Samples {
	var all Samples
	for t := first; t <= last; t++ {
		part := s.Train(t)
		all.Row = append(all.Row, part.Row...)
		all.Label = append(all.Label, part.Label...)
		for range part.Row {
			all.Time = append(all.Time, int32(t))
		}
	}
	return all
}

// until is the part of unweighted samples, in the order of Upto, that was drawn up to
// step t.
func (s Samples) until(t int) Samples {
	n, _ := slices.BinarySearch(s.Time, int32(t+1))
	return Samples{Row: s.Row[:n], Label: s.Label[:n], Time: s.Time[:n]}
}

// gaussianStream draws the drifting Gaussian of Section 3.1.2, or the periodic one of
// Figure 5. The pool holds the training samples of all steps, then the test samples of
// steps 1..Steps.
func gaussianStream(s Settings, seed int64) (*Stream, error) {
	cfg := gaussian.Paper()
	cfg.N, cfg.Steps, cfg.Turn, cfg.Period, cfg.Amplitude = s.N, s.Steps, s.Turn, s.Period, s.Amplitude
	test := cfg
	test.N = s.TestN
	var x []float32
	labels := make([]int32, 0, s.Steps*(s.N+s.TestN))
	add := func(c gaussian.Config, part string, t int) {
		xs, ys := c.Draw(seed, part, t)
		x, labels = append(x, xs...), append(labels, ys...)
	}
	for t := range s.Steps {
		add(cfg, "train", t)
	}
	for t := range s.Steps {
		add(test, "test", t+1)
	}
	block := func(from, n int) Samples {
		out := Samples{Row: make([]int32, n), Label: labels[from : from+n]}
		for i := range out.Row {
			out.Row[i] = int32(from + i)
		}
		return out
	}
	pool := poolOf(x)
	return &Stream{
		Classes: 2,
		Pool:    pool,
		X:       x,
		// x enters g as it is: its scale is that of the problem, and no sample of the
		// future has a say in it.
		GPool: &propensity.Pool{X: pool, Mean: []float32{0}, Scale: []float32{1}},
		Train: func(t int) Samples { return block(t*s.N, s.N) },
		Test:  func(t int) Samples { return block(s.Steps*s.N+(t-1)*s.TestN, s.TestN) },
		LogRatio: func(row, label int32, T, t int) float64 {
			return cfg.LogRatio(float64(x[row]), label, T, t)
		},
	}, nil
}

// stream is a label-shift scenario under a seed: training images of the seed's 90%
// split and test images of the test split only.
func (im *images) stream(s Settings, seed int64) (*Stream, error) {
	gPool, err := im.gPool(s.GInput)
	if err != nil {
		return nil, err
	}
	trainRows, _ := im.data.Train.Split(seed)
	stream := shifted(s, seed, byClass(trainRows, im.labels), im.testRows(s.TestN, seed), im.testRows(0, seed))
	stream.Head, stream.Pool, stream.GPool, stream.Input = im.head, im.pool, gPool, im.input
	return stream, nil
}

// byClass sorts rows by their label.
func byClass(rows, labels []int32) [][]int32 {
	out := make([][]int32, cifar10.Classes)
	for _, row := range rows {
		out[labels[row]] = append(out[labels[row]], row)
	}
	return out
}

// shifted is a stream whose samples are drawn by the label distribution q_t, with
// replacement, from the training rows of each class. It is tested on the test rows,
// each weighted by q_t, or on n of all test rows drawn by q_t.
func shifted(s Settings, seed int64, train, test, all [][]int32) *Stream {
	shift, _ := s.shift()
	draw := func(part string, t, n int, from [][]int32) Samples {
		rows, labels := shift.Draw(seed, part, t, n, from)
		out := Samples{Row: rows, Label: make([]int32, n)}
		for i, y := range labels {
			out.Label[i] = int32(y)
		}
		return out
	}
	stream := &Stream{
		Classes:  cifar10.Classes,
		Train:    func(t int) Samples { return draw("train", t, s.N, train) },
		Test:     func(t int) Samples { return weighted(test, shift.Prior(t)) },
		LogRatio: func(_, label int32, T, t int) float64 { return shift.LogRatio(int(label), T, t) },
	}
	if s.Evaluate == "draw" {
		n := s.TestN
		if n == 0 {
			n = len(slices.Concat(all...))
		}
		stream.Test = func(t int) Samples { return draw("test", t, n, all) }
	}
	return stream
}

// testRows returns the pool rows of n test images, equally many of each class and
// drawn by seed; of all test images if n is 0.
func (im *images) testRows(n int, seed int64) [][]int32 {
	out := some(im.data.Test.ByClass(), n, seed)
	for _, rows := range out {
		for i := range rows {
			rows[i] += int32(im.data.Train.Len())
		}
	}
	return out
}

// some leaves n test rows in place, equally many of each class and drawn by seed; all of
// them if n is 0.
func some(byClass [][]int32, n int, seed int64) [][]int32 {
	for class, rows := range byClass {
		if n > 0 && n/len(byClass) < len(rows) {
			random.New(seed, "test-images", class).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			byClass[class] = rows[:max(1, n/len(byClass))]
		}
	}
	return byClass
}

// weighted makes the rows a sample of the label distribution prior: every image of a
// class weighs prior(class) / images of the class, so that the weighted accuracy is
// the expectation over draws from q_t.
func weighted(byClass [][]int32, prior []float64) Samples {
	var out Samples
	for class, rows := range byClass {
		for _, row := range rows {
			out.Row = append(out.Row, row)
			out.Label = append(out.Label, int32(class))
			out.Weight = append(out.Weight, prior[class]/float64(len(rows)))
		}
	}
	return out
}

// poolOf copies values into a tensor of [rows, 1].
func poolOf(x []float32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(x, len(x), 1) }
