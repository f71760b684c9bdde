package sac

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"gonum.org/v1/gonum/stat"
)

// Use says what an agent does with omega. The uses other than the first tell what of omega helps: they keep how it
// weighs the past by its age, and nothing of what it says about single transitions.
type Use string

const (
	// UseTransition weights each transition by its own omega (Eq. 16).
	UseTransition Use = ""
	// UseEpisode weights each transition by the mean of omega over its episode (meansOf).
	UseEpisode Use = "episode"
	// UseGeometric draws minibatches instead of weighting them: the age of an episode is truncated geometric (Korniak et
	// al. 2026, arXiv 2605.10236), with the mean age that omega's weights have.
	UseGeometric Use = "geometric"
)

// measure keeps the mean of omega of every finished episode until the next fit.
func (a *Agent) measure() (err error) {
	if a.cfg.Omega.Use == UseTransition {
		return nil
	}
	episodes := make([][]episode, len(a.seeds))
	for i, r := range a.replay {
		episodes[i] = r.eligible(false)
	}
	a.means, err = a.meansOf(episodes, scoreRows)
	return err
}

// episodeSteps is how many transitions of an episode, spread evenly over it, its mean of omega is taken of: as many as
// cost a quarter of an update. A shorter episode has all of its.
const episodeSteps = 10

// meansOf returns the mean of omega over each of some episodes of each seed, by the episode's number. Overwritten
// transitions do not count. rows is that of logOmega.
func (a *Agent) meansOf(episodes [][]episode, rows int) ([]map[int]float64, error) {
	at := make([][]int, len(a.seeds))
	for i, r := range a.replay {
		for _, e := range episodes[i] {
			at[i] = append(at[i], r.spread(e)...)
		}
	}
	logs, err := a.logOmega(at, rows)
	if err != nil {
		return nil, err
	}
	out := make([]map[int]float64, len(a.seeds))
	for i, r := range a.replay {
		out[i] = map[int]float64{}
		omega, from := a.cfg.Omega.Clip.Weights(logs[i]), 0
		for _, e := range episodes[i] {
			n := len(r.spread(e))
			out[i][e.Number], from = stat.Mean(omega[from:from+n], nil), from+n
		}
	}
	return out, nil
}

// spread lists at most episodeSteps transitions of an episode, evenly spread over it.
func (r *replay) spread(e episode) []int {
	first := max(e.First, r.oldest())
	held := e.First + e.Count - first
	at := make([]int, min(held, episodeSteps))
	for i := range at {
		at[i] = first + (2*i+1)*held/(2*len(at))
	}
	return at
}

// episodeWeights are the weights of a minibatch under UseEpisode, [seeds, batch]. The episodes since the last fit are
// those whose mean may still change.
func (a *Agent) episodeWeights(at [][]int) (*tensors.Tensor, error) {
	since, wanted := make([][]episode, len(a.seeds)), false
	for i, r := range a.replay {
		drawn := map[int]bool{}
		for _, k := range at[i] {
			e := r.episodeAt(k)
			if _, known := a.means[i][e.Number]; !known && !drawn[e.Number] {
				drawn[e.Number], wanted = true, true
				since[i] = append(since[i], e)
			}
		}
	}
	fresh := make([]map[int]float64, len(a.seeds))
	if wanted {
		var err error
		if fresh, err = a.meansOf(since, fewRows); err != nil {
			return nil, err
		}
	}
	var out []float32
	for i, r := range a.replay {
		for _, k := range at[i] {
			number := r.episodeAt(k).Number
			mean, known := a.means[i][number]
			if !known {
				mean = fresh[i][number]
			}
			out = append(out, float32(mean))
		}
	}
	return tensors.FromFlatDataAndDimensions(out, len(a.seeds), a.cfg.Batch), nil
}

// meanAge is the mean age of episodes under weights of them, the oldest first, as a share of the largest age: 0 if all
// weight is on the latest one, 1/2 for equal weights and for fewer than two episodes.
func meanAge(weights []float64) float64 {
	sum, ages := 0., 0.
	for i, w := range weights {
		sum, ages = sum+w, ages+w*float64(len(weights)-1-i)
	}
	if len(weights) < 2 || sum == 0 {
		return .5
	}
	return ages / sum / float64(len(weights)-1)
}

// geometric draws transition numbers for a minibatch, with replacement: an episode by its age, then one of its
// transitions. means has omega of the finished episodes.
func (r *replay) geometric(rng *rand.Rand, batch int, means map[int]float64) []int {
	var weights []float64
	for _, e := range r.Episodes {
		if mean, known := means[e.Number]; known {
			weights = append(weights, mean)
		}
	}
	n := len(r.Episodes)
	rate := geometricRate(meanAge(weights)*float64(n-1), n)
	at := make([]int, batch)
	for b := range at {
		at[b] = r.stepOf(rng, r.Episodes[n-1-geometricAge(rng.Float64(), rate, n)])
	}
	return at
}

// geometricMean is the mean of an age from 0 to n-1 whose probabilities grow by the factor exp(rate) from each age to
// the next.
func geometricMean(rate float64, n int) float64 {
	if math.Abs(rate)*float64(n) < 1e-4 { // the difference below would have no digits left
		return float64(n-1)/2 + rate*float64(n*n-1)/12
	}
	return 1/math.Expm1(-rate) - float64(n)/math.Expm1(-rate*float64(n))
}

// geometricRate inverts geometricMean by bisection.
func geometricRate(mean float64, n int) float64 {
	low, high := -50., 50.
	for range 100 {
		middle := (low + high) / 2
		if geometricMean(middle, n) < mean {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// geometricAge is the age at quantile u, from 0 to 1, of the distribution of geometricMean.
func geometricAge(u, rate float64, n int) int {
	switch {
	case math.Abs(rate)*float64(n) < 1e-9:
		return min(n-1, int(u*float64(n)))
	case rate > 0: // exp(rate n) may overflow
		return n - 1 - geometricAge(1-u, -rate, n)
	}
	return max(0, min(n-1, int(math.Log1p(u*math.Expm1(rate*float64(n)))/rate)))
}
