package robots

import (
	"math"

	"tvps/data/env"
	"tvps/gomlx_models/sac"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/stat"
)

// What a run with omega reports at each evaluation (sac.OmegaRecord).
const (
	omegaMean   = "omega-mean"   // mean of omega over the episodes of the replay
	omegaShare  = "omega-share"  // effective share of the transitions: (sum omega)^2 / (n sum omega^2)
	omegaSpread = "omega-spread" // standard deviation of log omega, without a clip
	// omegaLoss is g's logistic loss on each episode since the last evaluation, before g was fitted to it. That of g = 0
	// is log 2 = .693.
	omegaLoss = "omega-loss"
	// omegaSimilarity is the correlation, over the episodes before T, of the mean of omega with the similarity of their
	// task to that of T (env.Similar); 0 if one of them does not vary.
	omegaSimilarity = "omega-similarity"
	// omegaWind is omegaSimilarity for the wind alone: the observations of Half-Cheetah do not contain the target.
	omegaWind = "omega-wind"
	// omegaRecency is the correlation, over the same episodes, of the mean of omega with the number of the episode; 0 if
	// omega does not vary.
	omegaRecency = "omega-recency"
	// omegaAge is the mean age of the episodes under omega, as a share of the largest one; 1/2 if omega is 1.
	omegaAge = "omega-age"
)

// addOmega appends what omega does to the rows of an evaluation, by seed.
func (t *training) addOmega(rows [][]runs.Row) error {
	if !t.learner.Omega {
		return nil
	}
	records, err := t.agent.RecordOmega(t.episode - t.settings.Every)
	if err != nil {
		return err
	}
	for i, r := range records {
		add := func(metric string, value float64) {
			rows[i] = append(rows[i], runs.Row{T: t.episode, Metric: metric, Value: value})
		}
		add(omegaMean, r.Mean)
		add(omegaShare, r.Share)
		add(omegaSpread, r.Spread)
		add(omegaLoss, r.Loss)
		if robot, ok := t.envs.robots[i].(env.Similar); ok {
			add(omegaSimilarity, correlation(r, robot.Similarity))
		}
		if robot, ok := t.envs.robots[i].(interface{ WindSimilarity(s, t int) float64 }); ok {
			add(omegaWind, correlation(r, robot.WindSimilarity))
		}
		add(omegaRecency, correlation(r, recency))
		add(omegaAge, r.Age)
	}
	return nil
}

// correlation is that of the mean omega of the episodes before T with of(episode, T), such as the similarity of their
// tasks; 0 if one of them does not vary.
func correlation(r sac.OmegaRecord, of func(s, t int) float64) float64 {
	var means, truth []float64
	for k, episode := range r.Episodes {
		if episode < r.Last {
			means, truth = append(means, r.Means[k]), append(truth, of(episode, r.Last))
		}
	}
	c := stat.Correlation(means, truth, nil)
	if len(means) < 2 || math.IsNaN(c) || math.IsInf(c, 0) {
		return 0
	}
	return c
}

// recency is the number of an episode.
func recency(episode, _ int) float64 { return float64(episode) }
