package crossfit

import (
	"context"
	"math"
	"math/rand/v2"

	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Null compares the real data with others that do not drift. On each of them, and on the real ones, small g are
// trained.
//
// For Drift.Score the times are shuffled. A shuffle moves whole contiguous chunks of rows to other places in time, so
// that rows that depend on their neighbours keep them. Were rows shuffled one by one, their dependence would look
// like drift. For Drift.Rule the outcomes are redrawn given x, see conditionalNull.
type Null struct {
	// P is the probability of a loss as low as the real one without drift: that of a further draw from Student's t
	// distribution with mean and standard deviation of the other losses, which is exact if losses are normal. It is at
	// least 1e-6: no tail is known better.
	P                    float64
	Loss                 float64   // held-out, of the real data
	NullLoss             []float64 // of each of the others
	LossMean, LossSpread float64   // mean and standard deviation of NullLoss
}

// The null's g and its training: small, since all shuffles train at the same time.
const (
	nullFolds, nullRows, nullPairs = 2, 20000, 1024
	nullStride                     = 30
	nullBatch                      = 256
)

var nullCandidate = Candidate{Hidden: 16, Frequencies: 4, Updates: 150, LearningRate: 1e-2, Decay: .1}

// null tests for drift. chunk: of each sample.
func (o *Fitted) null(ctx context.Context, table []*tensors.Tensor, samples []sample, chunk []int32,
	seed int64) (*Null, error) {
	data := make([][]sample, o.Config.Permutations+1)
	data[0] = samples
	for p := range data[1:] {
		from := shuffleChunks(chunk, random.New(seed, "null", p+1))
		moved := loop.Pick(samples, from)
		for i := range moved {
			moved[i].u = samples[i].u
		}
		data[p+1] = moved
	}
	return o.compare(ctx, table, data, chunk, seed, func(p int) int { return p })
}

// compare trains g on each of the data, which have the chunks given, and compares the first with the others. Data
// with the same stream of random numbers have the same initial values and minibatches.
func (o *Fitted) compare(ctx context.Context, table []*tensors.Tensor, data [][]sample, chunk []int32, seed int64,
	stream func(p int) int) (*Null, error) {
	fold := deal(chunk, nullFolds)
	var lanes []*lane
	for p := range data {
		for k := range nullFolds {
			l, err := newLane(data[p], fold, k, nullPairs, random.New(seed, "null held", stream(p), k))
			if err != nil {
				return nil, err
			}
			l.start = random.Seed(seed, "null start", stream(p), k)
			l.draws = random.New(seed, "null draws", stream(p), k)
			lanes = append(lanes, l)
		}
	}
	w, err := o.fitter.net(o.key(nullCandidate, len(lanes), nullBatch, nullStride))
	if err != nil {
		return nil, err
	}
	updates := nullCandidate.Updates // without an early stop
	c, err := w.train(ctx, table, lanes, nullCandidate, updates, updates, o.work.training(updates))
	if err != nil {
		return nil, err
	}
	// Each of the data has its own best check after training has begun.
	losses := make([]float64, len(data))
	for p := range losses {
		losses[p] = math.Inf(1)
		for _, check := range c.losses[1:] {
			losses[p] = min(losses[p], mean(check[p*nullFolds:(p+1)*nullFolds]))
		}
	}
	return verdict(losses), nil
}

// verdict compares the first of the losses with the others.
func verdict(losses []float64) *Null {
	n := &Null{Loss: losses[0], NullLoss: losses[1:], P: 1}
	n.LossMean, n.LossSpread = stat.MeanStdDev(n.NullLoss, nil)
	others := float64(len(n.NullLoss))
	if n.LossSpread > 0 { // otherwise all lost the same, such as log 2: nothing was learned
		n.P = max(1e-6, distuv.StudentsT{Mu: n.LossMean, Sigma: n.LossSpread * math.Sqrt(1+1/others),
			Nu: others - 1}.CDF(n.Loss))
	}
	return n
}

// thin takes every n-th, so that at most nullRows are left.
func thin[T any](list []T) (out []T) {
	every := (len(list) + nullRows - 1) / nullRows
	for i := 0; i < len(list); i += every {
		out = append(out, list[i])
	}
	return out
}

// deal gives chunks to folds in turn.
func deal(chunk []int32, folds int32) []uint8 {
	out := make([]uint8, len(chunk))
	for i, c := range chunk {
		out[i] = uint8(c % folds)
	}
	return out
}

// shuffleChunks returns the positions with the chunks in random order.
func shuffleChunks(chunk []int32, rng *rand.Rand) []int {
	var from []int
	for i := range chunk {
		if i == 0 || chunk[i] != chunk[i-1] {
			from = append(from, i)
		}
	}
	from = append(from, len(chunk))
	out := make([]int, 0, len(chunk))
	for _, c := range rng.Perm(len(from) - 1) {
		for i := from[c]; i < from[c+1]; i++ {
			out = append(out, i)
		}
	}
	return out
}
