package supervised

import (
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

// Stream is a scenario under one seed: labelled samples for every step and what is needed to learn from them. Every
// scenario is of this form, so one experiment serves all.
type Stream struct {
	Classes  int
	Head     net.Values                               // the pre-trained model; nil if there is none
	Pool     *tensors.Tensor                          // inputs of the classifier, [rows, dims...], float32 or float16
	X        []float32                                // the pool on the host if the classifier standardises it
	GPool    *propensity.Pool                         // inputs of g, the same rows
	Train    func(t int) Samples                      // training samples of step t
	Test     func(t int) Samples                      // test samples of step t, possibly weighted
	Fresh    func(t int) Samples                      // samples of step t that are in no Train; nil if there are none
	LogRatio func(row, label int32, T, t int) float64 // exact log p_T(x,y) / p_t(x,y)
	Input    func(row int32, input string) []float32  // a row's pixels or features on the host, images only

	// InputOfG is what g sees of a row, on the host. At every step g's inputs are standardised by the samples that it
	// is fitted on. If it is nil they are standardised by GPool at every step.
	InputOfG func(row int32) []float32
	// Validation returns samples of step t that are neither trained nor tested on, as rows of ValidationX; nil if there
	// are none. The held-out loss of g is that of these samples.
	Validation  func(t int) Samples
	ValidationX *tensors.Tensor
}

// validationN is the number of validation samples of a step, that of the training samples in Table 2.
const validationN = 200

// Upto gathers the training samples of steps first..last.
func (s *Stream) Upto(first, last int) Samples { return gathered(s.Train, first, last) }

// gathered joins the samples of steps first..last.
func gathered(of func(t int) Samples, first, last int) Samples {
	var all Samples
	for t := first; t <= last; t++ {
		part := of(t)
		all.Row = append(all.Row, part.Row...)
		all.Label = append(all.Label, part.Label...)
		for range part.Row {
			all.Time = append(all.Time, int32(t))
		}
	}
	return all
}
