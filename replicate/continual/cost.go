package continual

// cost estimates the relative work of a learner's step, for the order of runs and the time left.
func (l Learner) cost(s Settings) float64 {
	past := float64(s.N*s.Steps) / 2 // samples of all steps so far, half-way
	all := past * float64(s.Epochs) / float64(s.Batch)
	if s.MaxUpdates > 0 {
		all = float64(s.MaxUpdates)
	}
	one := min(all, float64(s.N*s.Epochs)/float64(s.Batch))
	update := 1. // measured: minibatches of a vector model,
	if s.model() == PretrainedHead {
		update = map[string]float64{"basic": 150, "stage": 310}[s.Block] // and of the head of ResNet-18
	}
	cost := 1 + l.costOfG(s)
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

// costOfG estimates the relative work of g at one step.
func (l Learner) costOfG(s Settings) float64 {
	if l.Method == "" {
		return 0
	}
	updates := float64(s.GUpdates)
	if s.GEpochs > 0 {
		updates = float64(s.N*s.Steps) / 2 * float64(s.GEpochs) / float64(s.GBatch)
	}
	if s.GStart == "previous" {
		updates *= 2
	}
	if l.Covariate {
		updates *= 2
	}
	return 4 * updates // measured: of a minibatch of a vector model
}
