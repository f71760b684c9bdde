package sac

import (
	"errors"
	"fmt"
	"math"

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
}

// recordSteps is how many transitions of each episode a record draws, with replacement.
const recordSteps = 8

// RecordOmega returns a record of each seed. Loss is averaged over the fits for the episodes from
// number since. It changes nothing of the agent, whose random numbers are others.
func (a *Agent) RecordOmega(since int) ([]OmegaRecord, error) {
	if a.cfg.Omega == nil {
		return nil, errors.New("sac: this agent has no omega; set Config.Omega")
	}
	most := 0
	for _, r := range a.index {
		most = max(most, len(r.eligible(false)))
	}
	logs, err := a.logOmega(most)
	if err != nil {
		return nil, err
	}
	out := make([]OmegaRecord, len(a.seeds))
	for i, r := range a.index {
		out[i] = a.record(r.eligible(false), logs[i])
		out[i].Last, out[i].Loss = a.lastFit[i].Episode, freshMean(a.fresh[i], since)
	}
	return out, nil
}

// record summarises log omega of recordSteps transitions of each episode.
func (a *Agent) record(episodes []episode, logs []float64) OmegaRecord {
	logs = logs[:len(episodes)*recordSteps]
	r := OmegaRecord{Mean: 1, Share: 1}
	if len(logs) == 0 {
		return r
	}
	omega := a.cfg.Omega.Clip.Weights(logs)
	r.Mean, r.Spread = stat.Mean(omega, nil), math.Sqrt(stat.PopVariance(logs, nil))
	r.Share = propensity.EffectiveSampleSize(omega) / float64(len(omega))
	for e, episode := range episodes {
		r.Episodes = append(r.Episodes, episode.Number)
		r.Means = append(r.Means, stat.Mean(omega[e*recordSteps:(e+1)*recordSteps], nil))
	}
	return r
}

// logOmega is log omega of recordSteps transitions of each finished episode, drawn from its
// steps: [seeds][episodes*recordSteps], 0 before the first fit. A seed with fewer than most
// episodes has zeros at the end.
func (a *Agent) logOmega(most int) ([][]float64, error) {
	n, size := len(a.seeds), most*recordSteps
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, size)
	}
	if size == 0 || a.gUpdates == 0 {
		return out, nil
	}
	rows, times := make([][]int32, n), make([][]float32, n)
	for i, r := range a.index {
		rng := random.New(a.seeds[i], "sac", "record of omega", a.gUpdates)
		for _, e := range r.eligible(false) {
			for range recordSteps {
				rows[i] = append(rows[i], r.row(r.stepOf(rng, e)))
				times[i] = append(times[i], float32(e.Number))
			}
		}
		rows[i] = append(rows[i], make([]int32, size-len(rows[i]))...)
		times[i] = append(times[i], make([]float32, size-len(times[i]))...)
	}
	return out, a.scoreChunks(rows, times, out)
}

// scoreRows is the most transitions of each seed that one call scores.
const scoreRows = 2048

// scoreChunks sets out to log omega of the given rows of the replay array and their times.
func (a *Agent) scoreChunks(rows [][]int32, times [][]float32, out [][]float64) error {
	n, size := len(rows), len(rows[0])
	array, err := a.array.current()
	if err != nil {
		return err
	}
	for first := 0; first < size; first += scoreRows {
		row, t := make([]int32, n*scoreRows), make([]float32, n*scoreRows)
		for i := range rows {
			copy(row[i*scoreRows:(i+1)*scoreRows], rows[i][first:])
			copy(t[i*scoreRows:(i+1)*scoreRows], times[i][first:])
		}
		logs, err := a.runG(a.programs.scoring, array, tensors.FromFlatDataAndDimensions(row, n, scoreRows),
			tensors.FromFlatDataAndDimensions(t, n, scoreRows))
		if err != nil {
			return fmt.Errorf("sac: cannot record omega: %w", err)
		}
		for i := range out {
			for k, v := range logs[i*scoreRows:][:min(scoreRows, size-first)] {
				out[i][first+k] = float64(v)
			}
		}
	}
	return nil
}

// runG runs a program of g on the replay array and inputs, which it frees, and returns the values
// of its result.
func (a *Agent) runG(program *Exec, array *tensors.Tensor, inputs ...*tensors.Tensor) ([]float32, error) {
	inputs = append(inputs, a.lastFitTensors()...)
	defer net.Free(inputs...)
	out, err := net.Run(program, array, inputs, a.g[:len(a.programs.g)])
	if err != nil {
		return nil, err
	}
	defer net.Free(out...)
	return tensors.CopyFlatData[float32](out[0])
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
	n, o := len(a.seeds), a.cfg.Omega
	for i := range next {
		if a.gUpdates == 0 || next[i].Episode <= a.lastFit[i].Episode {
			return nil
		}
	}
	rows := make([]int32, n*o.Batch)
	t2, t1, z := make([]float32, n*o.Batch), make([]float32, n*o.Batch), make([]float32, n*o.Batch)
	for i, r := range a.index {
		episodes := r.eligible(o.Every == 0)
		last := len(episodes) - 1
		rng := random.New(a.seeds[i], "sac", "new episode", next[i].Episode)
		for b := range o.Batch {
			k, other := i*o.Batch+b, episodes[rng.IntN(last)]
			own, sign := other, float32(-1)
			if b%2 == 0 {
				own, sign = episodes[last], 1
			}
			rows[k] = r.row(r.stepOf(rng, own))
			t2[k], t1[k], z[k] = float32(episodes[last].Number), float32(other.Number), sign
		}
	}
	array, err := a.array.current()
	if err != nil {
		return err
	}
	vector := func(v []float32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(v, n, o.Batch) }
	losses, err := a.runG(a.programs.testing, array, tensors.FromFlatDataAndDimensions(rows, n, o.Batch),
		vector(t2), vector(t1), vector(z))
	if err != nil {
		return fmt.Errorf("sac: cannot test omega on a new episode: %w", err)
	}
	for i, loss := range losses {
		a.fresh[i] = append(a.fresh[i], freshLoss{next[i].Episode, loss})
	}
	return nil
}

// testGraph is the logistic loss of triplets, [seeds], without an update.
func (p *programs) testGraph(in []*Node) []*Node {
	array, rows, t2, t1, z, fit, g := in[0], in[1], in[2], in[3], in[4], fittedOf(in[5:]), in[5+fitTensors:]
	s := net.Bind(array.Graph(), p.g, g, false).Copies(p.seeds)
	return []*Node{p.cfg.Omega.g().Loss(s, propensity.Input{X: p.xOf(array, rows, fit)}, fit.times(t2), fit.times(t1), z)}
}
