package sac

import (
	"errors"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"gonum.org/v1/gonum/stat"
)

// OmegaRecord says what omega of one seed does at present. Before the first fit every omega is 1.
type OmegaRecord struct {
	Mean   float64 // of omega, over the drawn transitions
	Share  float64 // effective share: (sum omega)^2 / (n sum omega^2)
	Spread float64 // standard deviation of log omega, without a clip
	// Loss is g's mean logistic loss on new episodes before it is fitted to them (testNew);
	// log 2, which is that of g = 0, if there was none.
	Loss     float64
	Last     int       // T, the episode that g was last fitted for; -1 before the first fit
	Episodes []int     // numbers of the finished episodes in the replay
	Means    []float64 // mean of omega of each of them
	Age      float64   // their mean age under these weights, as a share of the largest; 1/2 for equal weights
}

// recordSteps is how many transitions of each episode a record draws, with replacement.
const recordSteps = 8

// RecordOmega returns a record of each seed of an agent with omega. Loss is averaged over the fits
// for the episodes from number since. It changes nothing of the agent, whose random numbers are others.
func (a *Agent) RecordOmega(since int) ([]OmegaRecord, error) {
	if a.cfg.Omega == nil {
		return nil, errors.New("sac: the agent has no omega to record")
	}
	at := make([][]int, len(a.seeds))
	for i, r := range a.replay {
		rng := random.New(a.seeds[i], "sac", "record of omega", a.gUpdates)
		for _, e := range r.eligible(false) {
			for range recordSteps {
				at[i] = append(at[i], r.stepOf(rng, e))
			}
		}
	}
	logs, err := a.logOmega(at)
	if err != nil {
		return nil, err
	}
	out := make([]OmegaRecord, len(a.seeds))
	for i, r := range a.replay {
		out[i] = a.record(r.eligible(false), logs[i])
		out[i].Last, out[i].Loss = a.lastFit[i].Episode, freshMean(a.fresh[i], since)
	}
	return out, nil
}

// record summarises log omega of recordSteps transitions of each episode.
func (a *Agent) record(episodes []episode, logs []float64) OmegaRecord {
	r := OmegaRecord{Mean: 1, Share: 1, Age: .5}
	if len(logs) == 0 {
		return r
	}
	omega := a.cfg.Omega.Clip.Weights(logs)
	r.Mean, r.Spread = stat.Mean(omega, nil), math.Sqrt(stat.PopVariance(logs, nil))
	for e, episode := range episodes {
		r.Episodes = append(r.Episodes, episode.Number)
		r.Means = append(r.Means, stat.Mean(omega[e*recordSteps:(e+1)*recordSteps], nil))
	}
	r.Share, r.Age = propensity.EffectiveSampleSize(omega)/float64(len(omega)), meanAge(r.Means)
	return r
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

// logOmega is log omega without a clip of the given transitions of each seed; 0 before the first fit.
func (a *Agent) logOmega(wanted [][]int) ([][]float64, error) {
	const rows = 2048 // of each seed that one call of the program scores
	at, size := make([][]int, len(a.seeds)), 0
	for i := range a.seeds {
		size = max(size, (len(wanted[i])+rows-1)/rows*rows)
	}
	out := make([][]float64, len(a.seeds))
	for i, r := range a.replay {
		at[i] = slices.Concat(wanted[i], slices.Repeat([]int{r.oldest()}, size-len(wanted[i])))
		out[i] = make([]float64, size)
	}
	for first := 0; first < size && a.gUpdates > 0; first += rows {
		chunk := make([][]int, len(at))
		for i := range at {
			chunk[i] = at[i][first:][:rows]
		}
		logs, err := a.valuesOfG(a.programs.scoring, a.steps(chunk), a.times(chunk))
		if err != nil {
			return nil, err
		}
		for i := range out {
			for k, v := range logs[i*rows:][:rows] {
				out[i][first+k] = float64(v)
			}
		}
	}
	for i := range out {
		out[i] = out[i][:len(wanted[i])]
	}
	return out, nil
}

// valuesOfG runs a program of g on inputs, which it frees, and returns the values of its result.
func (a *Agent) valuesOfG(program *Exec, inputs ...*tensors.Tensor) ([]float32, error) {
	defer net.Free(inputs...)
	out, err := a.runG(program, inputs...)
	if err != nil {
		return nil, err
	}
	defer net.Free(out)
	return tensors.CopyFlatData[float32](out)
}

// scoreGraph is log omega without a clip, [seeds, rows].
func (p *programs) scoreGraph(in []*Node) []*Node { return []*Node{p.logOmega(in)} }

// freshLoss is g's loss on an episode that it has not been fitted to.
type freshLoss struct {
	Episode int
	Loss    float32
}

// freshMean is the mean loss on the episodes from number since; log 2 if there are none.
func freshMean(losses []freshLoss, since int) float64 {
	sum, n := 0., 0.
	for _, l := range losses {
		if l.Episode >= since {
			sum, n = sum+float64(l.Loss), n+1
		}
	}
	if n == 0 {
		return math.Ln2
	}
	return sum / n
}

// testNew records g's logistic loss on each seed's new episode T, before g is fitted to it. All
// triplets have t2 = T, a time that g has not seen: one half are steps of episode T (z = +1, t1
// a random other episode), the other half steps of other episodes, of time t1 (z = -1). So the
// loss is below log 2 only if g predicts from the episodes before how T differs from others.
// next are the fits that follow.
func (a *Agent) testNew(next []omegaFit) error {
	o := a.cfg.Omega
	for i := range next {
		if a.gUpdates == 0 || next[i].Episode <= a.lastFit[i].Episode {
			return nil
		}
	}
	var drawn triplets
	for i, r := range a.replay {
		episodes := r.eligible(o.Every == 0)
		last := len(episodes) - 1
		rng := random.New(a.seeds[i], "sac", "new episode", next[i].Episode)
		at := make([]int, o.Batch)
		for b := range at {
			other := episodes[rng.IntN(last)]
			own, sign := other, float32(-1)
			if b%2 == 0 {
				own, sign = episodes[last], 1
			}
			at[b] = r.stepOf(rng, own)
			drawn.add(episodes[last], other, sign)
		}
		drawn.at = append(drawn.at, at)
	}
	losses, err := a.valuesOfG(a.programs.testing, a.inputs(drawn)...)
	if err != nil {
		return err
	}
	for i, loss := range losses {
		a.fresh[i] = append(a.fresh[i], freshLoss{next[i].Episode, loss})
	}
	return nil
}

// testGraph is the logistic loss of triplets, [seeds], without an update.
func (p *programs) testGraph(in []*Node) []*Node {
	steps, t2, t1, z, fit, g := in[0], in[1], in[2], in[3], fittedOf(in[4:]), in[4+fitTensors:]
	s := net.Bind(steps.Graph(), p.g, g, false).Copies(p.seeds)
	return []*Node{p.cfg.Omega.g().Loss(s, propensity.Input{X: p.xOf(steps, fit)}, fit.times(t2), fit.times(t1), z)}
}
