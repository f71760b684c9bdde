package supervised

import (
	"cmp"
	"fmt"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
)

var _ experiment.Setup = Settings{}

// Fields lists the settings in their order.
func (s Settings) Fields() []experiment.Field { return experiment.Fields(s) }

// With returns a copy with another value of one setting.
func (s Settings) With(name, value string) (experiment.Setup, error) {
	if err := rules().Set(&s, name, value); err != nil {
		return nil, err
	}
	return s, nil
}

// Length is the number of time steps.
func (s Settings) Length() int { return s.Steps }

// PlannedSteps lists the steps t at which models are trained, to be tested on t + 1.
func (s Settings) PlannedSteps() []int {
	var out []int
	for t := s.First; t < s.Steps; t += s.Stride {
		out = append(out, t)
	}
	return out
}

// Sampled is true: models are trained at some steps of one stream.
func (s Settings) Sampled() bool { return true }

// Source says which data the scenario is made of.
func (s Settings) Source(h *experiment.Host) experiment.Source { return s.open(h).About() }

// Notes says what a panel was made from, in sentences.
func (s Settings) Notes(source experiment.Source, _ []string, measure string) []string {
	measure = cmp.Or(measure, measureAccuracy)
	out := []string{s.noteOfTraining(measure)}
	if measure != measureMean {
		out = append(out, s.noteOfG())
	}
	if err := s.CheckStride(); err != nil && measure == measureAccuracy {
		out = append(out, err.Error()+".")
	}
	if source.Note != "" {
		out = append(out, source.Note+".")
	}
	if s.model() != pretrainedHead {
		return out
	}
	start := map[string]string{
		"pretrained": "from the pre-trained weights",
		"reinit":     "from new random weights",
	}[s.Start]
	out = append(out, fmt.Sprintf("ResNet-18 of width %d, trained part starts %s.", s.Width, start))
	if s.Checkpoint == "committed" {
		out = append(out, "One checkpoint, pre-trained on split 0, serves all seeds.")
	}
	return out
}

// noteOfTraining says how much is trained.
func (s Settings) noteOfTraining(measure string) string {
	if measure != measureAccuracy {
		return fmt.Sprintf("N = %d samples a step, %d steps, clip %s.", s.N, s.Steps, s.Clip)
	}
	limit := ""
	if s.MaxUpdates > 0 {
		limit = fmt.Sprintf(" (at most %d minibatches of %d)", s.MaxUpdates, s.Batch)
	}
	return fmt.Sprintf("N = %d samples a step, %d epochs%s, every %s step of %d, clip %s, %s.",
		s.N, s.Epochs, limit, experiment.Ordinal(s.Stride), s.Steps, s.Clip, s.Method)
}

// noteOfG says how g is trained.
func (s Settings) noteOfG() string {
	training := fmt.Sprintf("%d minibatches", s.GUpdates)
	if s.GEpochs > 0 {
		training = fmt.Sprintf("%d epochs", s.GEpochs)
	}
	rate := fmt.Sprintf("rate %g", s.GRate)
	if s.GSchedule == propensity.ScheduleCosine {
		rate += ", which falls to 0"
	}
	return fmt.Sprintf("g: %s of width %d, %s time, %s of %d at %s.",
		s.GNetwork, s.GHidden, s.GTime, training, s.GBatch, rate)
}
