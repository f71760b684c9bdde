package metaweight

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const evalRows = 500 // samples in one call of Weights

// Len is the number of samples.
func (s Samples) Len() int { return len(s.Row) }

// batches cuts an endless sequence of random permutations of the samples into minibatches.
type batches struct {
	samples Samples
	size    int // samples of a minibatch
	rng     *rand.Rand
	order   []int // rest of the current permutation
}

// next fills the first count of chunk minibatches; row, label: [chunk, size].
func (b *batches) next(chunk, count int) (row, label *tensors.Tensor) {
	rows, labels := make([]int32, chunk*b.size), make([]int32, chunk*b.size)
	for i := range count * b.size {
		if len(b.order) == 0 {
			b.order = b.rng.Perm(b.samples.Len())
		}
		rows[i], labels[i] = b.samples.Row[b.order[0]], b.samples.Label[b.order[0]]
		b.order = b.order[1:]
	}
	row = tensors.FromFlatDataAndDimensions(rows, chunk, b.size)
	return row, tensors.FromFlatDataAndDimensions(labels, chunk, b.size)
}

// feed returns the feeds of step: row and label of a training batch, then of a meta batch.
func feed(chunk int, data, meta *batches) loop.Feed {
	return func(_, count int) []*tensors.Tensor {
		row, label := data.next(chunk, count)
		metaRow, metaLabel := meta.next(chunk, count)
		return []*tensors.Tensor{row, label, metaRow, metaLabel}
	}
}

// checkValues returns an error if values do not have the sizes of params.
func checkValues(what string, params []net.Param, values net.Values) error {
	if len(values) != len(params) {
		return fmt.Errorf("metaweight: %d arrays of values for the %d of the %s", len(values), len(params), what)
	}
	for i, p := range params {
		if len(values[i]) != p.Size() {
			return fmt.Errorf("metaweight: %d values for the %s's array %s, which has %d",
				len(values[i]), what, p.Name, p.Size())
		}
	}
	return nil
}

// checkSamples returns an error if lengths do not match or rows or labels are out of range.
func (t *Trainer) checkSamples(what string, pool *tensors.Tensor, s Samples) error {
	if s.Len() == 0 {
		return fmt.Errorf("metaweight: there are no %s samples", what)
	}
	if len(s.Label) != s.Len() {
		return fmt.Errorf("metaweight: %d %s samples but %d labels", s.Len(), what, len(s.Label))
	}
	if pool == nil || pool.Shape().Rank() < 2 {
		return fmt.Errorf("metaweight: the pool must be an array of rows, [rows, dims...]")
	}
	rows := pool.Shape().Dim(0)
	for i := range s.Row {
		if s.Row[i] < 0 || int(s.Row[i]) >= rows {
			return fmt.Errorf("metaweight: %s sample %d is row %d of a pool of %d", what, i, s.Row[i], rows)
		}
		if s.Label[i] < 0 || int(s.Label[i]) >= t.model.Classes {
			return fmt.Errorf("metaweight: %s sample %d has label %d; labels are 0 to %d",
				what, i, s.Label[i], t.model.Classes-1)
		}
	}
	return nil
}

// Weights returns the weight V(L_i) of each sample, for the values theta and v that Fit returned.
// pool: [rows, dims...]. It fails if samples are missing or out of range, values do not fit, ctx is
// cancelled, or the backend fails.
func (t *Trainer) Weights(ctx context.Context, pool *tensors.Tensor, theta, v net.Values,
	data Samples) ([]float64, error) {
	if err := cmp.Or(checkValues("classifier", t.model.Params, theta), checkValues("weight network", t.v, v),
		t.checkSamples("given", pool, data)); err != nil {
		return nil, err
	}
	held := append(theta.Tensors(t.model.Params), v.Tensors(t.v)...)
	defer net.Free(held...)
	out := make([]float64, 0, data.Len())
	for from := 0; from < data.Len(); from += evalRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, label := make([]int32, evalRows), make([]int32, evalRows)
		n := copy(row, data.Row[from:])
		copy(label, data.Label[from:])
		result, err := net.Run(t.eval, pool, row, label, held)
		if err != nil {
			return nil, fmt.Errorf("metaweight: %w", err)
		}
		w, err := net.FromTensors(result)
		if err != nil {
			return nil, fmt.Errorf("metaweight: %w", err)
		}
		net.Free(result...)
		for _, x := range w[0][:n] {
			out = append(out, float64(x))
		}
	}
	return out, nil
}

// evalGraph is the compiled part of Weights. Inputs: pool, row, label, theta..., v... . Result:
// the weights, [batch].
func (t *Trainer) evalGraph(in []*Node) []*Node {
	theta, v := in[3:3+len(t.model.Params)], in[3+len(t.model.Params):]
	s := net.Bind(in[0].Graph(), t.model.Params, theta, false)
	return []*Node{weights(v, t.v, t.losses(s, in[0], in[1], in[2]))}
}
