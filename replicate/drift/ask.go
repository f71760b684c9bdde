package drift

import (
	"math"

	"tvps/gomlx_models/propensity/crossfit"

	"gonum.org/v1/gonum/stat/distuv"
)

// ask fits g and answers whether x, y, and y given x drift. A question is answered with yes if its p-value is at most
// level after Holm's correction, and crossfit.Null calls drift: the loss must lie below that of every shuffle, and
// three standard deviations below their mean, since on autoregressive rows without drift p-values are too small.
func (m *measurement) ask() error {
	cfg := m.q.Fit
	cfg.Kinds = []crossfit.Kind{crossfit.Covariate}
	if m.hasY() {
		cfg.Kinds = crossfit.Kinds()
	}
	m.progress(0, "propensity score")
	var err error
	if m.g, err = m.fitter.Fit(m.ctx, m.d, cfg, m.q.Seed); err != nil {
		return err
	}
	m.Notes = append(m.Notes, m.g.Notes...)
	m.question(InX, m.g.Covariate.Null)
	if m.hasY() {
		m.progress(fitShare, "drift of y")
		if err := m.askY(cfg); err != nil {
			return err
		}
		m.question(InRule, m.g.Conditional)
	}
	holm(m.Questions)
	for i := range m.Questions {
		q := &m.Questions[i]
		q.Drift = q.null.Drift && q.Holm <= level
	}
	m.progress(fitShare+yShare, "tests over time")
	return nil
}

// askY fits g to y alone, with one candidate, since only its null is needed.
func (m *measurement) askY(cfg crossfit.Config) error {
	d := m.d
	d.X, d.Dim = make([]float32, len(d.Time)), 1
	cfg.Kinds, cfg.Ensemble, cfg.Folds = []crossfit.Kind{crossfit.Joint}, 1, 2
	cfg.Candidates = []crossfit.Candidate{{Hidden: 16, Frequencies: 4, Updates: 1, LearningRate: 1e-2}}
	g, err := m.fitter.Fit(m.ctx, d, cfg, m.q.Seed)
	if err != nil {
		return err
	}
	m.question(InY, g.Joint.Null)
	return nil
}

func (m *measurement) question(name string, n *crossfit.Null) {
	m.Questions = append(m.Questions, Question{Name: name, Loss: n.Loss, Null: n.LossMean, P: tailP(n), null: n})
}

// tailP is the p-value of the real loss among those of n shuffles, if these are normal: that of a further draw from
// Student's t distribution with their mean and standard deviation. A count of shuffles would need 60 of them to reach
// .05 after the correction for three questions. It is at least 1e-6: no tail is known better.
func tailP(n *crossfit.Null) float64 {
	shuffles := float64(len(n.NullLoss))
	spread := n.LossSpread * math.Sqrt(1+1/shuffles)
	if spread == 0 { // all shuffles lost the same, such as log 2: nothing was learned
		return 1
	}
	student := distuv.StudentsT{Mu: n.LossMean, Sigma: spread, Nu: shuffles - 1}
	return max(1e-6, student.CDF(n.Loss))
}
