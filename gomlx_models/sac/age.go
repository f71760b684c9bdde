package sac

import (
	"github.com/gomlx/gomlx/core/tensors"

	"gonum.org/v1/gonum/stat"
)

// Use says what an agent does with omega. The second use tells what of omega helps: it keeps how omega
// weighs the past by its age, and nothing of what it says about single transitions.
type Use string

const (
	// UseTransition weights each transition by its own omega (Eq. 16).
	UseTransition Use = ""
	// UseEpisode weights each transition by the mean of omega over its episode (meansOf).
	UseEpisode Use = "episode"
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
