package supervised

import "math"

// cost estimates the work of a learner's step, in minibatches of a vector model.
func (l Learner) cost(s Settings) float64 {
	half := s.Steps / 2
	updates := func(first, last, epochs int) float64 {
		return float64(updatesOf(s.N*(last-max(0, first)+1), epochs, s.Batch, s.MaxUpdates))
	}
	update, test := 1., 1.
	if s.model() == pretrainedHead { // measured at width 16; at width 64 it is eight times as much
		update = map[string]float64{"basic": 150, "stage": 310}[s.Block] * math.Pow(float64(s.Width)/16, 1.5)
		test = 10 * update
	}
	cost := test + l.costOfG(s)
	if l.Train != nil {
		cost += l.Cost * updates(0, half, s.Epochs) * update
	}
	for _, p := range l.Phases {
		first, last := p.Steps(half)
		cost += updates(first, last, p.Epochs(s)) * update
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
