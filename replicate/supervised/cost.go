package supervised

import "math"

// cost estimates the work of a learner's step, in minibatches of a vector model.
func (l Learner) cost(s Settings) float64 {
	past := float64(s.N*s.Steps) / 2 // samples of all steps so far, half-way
	all := past * float64(s.Epochs) / float64(s.Batch)
	if s.MaxUpdates > 0 {
		all = float64(s.MaxUpdates)
	}
	one := min(all, float64(s.N*s.Epochs)/float64(s.Batch))
	update, test := 1., 1.
	if s.model() == pretrainedHead { // measured at width 16; at width 64 it is eight times as much
		update = map[string]float64{"basic": 150, "stage": 310}[s.Block] * math.Pow(float64(s.Width)/16, 1.5)
		test = 10 * update
	}
	cost := test + l.costOfG(s)
	if l.Train != nil {
		cost += l.Cost * all * update
	}
	for _, p := range l.Phases {
		if first, last := p.Steps(s.Steps); first == last {
			cost += one * update
		} else {
			cost += all * update
		}
	}
	return cost
}

// costOfMMD estimates the work of the comparisons of one step, whose kernels have the past on both sides.
func (s Settings) costOfMMD() float64 { return 60_000 * math.Pow(float64(s.MMDPast)/2000, 2) }

// costOfG estimates the work of g at one step.
func (l Learner) costOfG(s Settings) float64 {
	if !l.fits() {
		return 0
	}
	updates := float64(s.GUpdates)
	if s.GEpochs > 0 {
		updates = float64(s.N*s.Steps) / 2 * float64(s.GEpochs) / float64(s.GBatch)
	}
	if s.GStart == "previous" {
		updates *= 2
	}
	return 4 * updates // measured: of a minibatch of a vector model
}

// Seconds for each unit of cost, measured next to another run.
const (
	secondsOfVectors = 1.2e-4
	secondsOfImages  = 2e-4
)

// cost is the declared length of a step of the run.
func (x config) cost(int) float64 {
	units := x.measure.cost(x.learner, x.settings)
	if x.settings.model() == pretrainedHead {
		return units * secondsOfImages
	}
	return units * secondsOfVectors
}
