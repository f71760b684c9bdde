package propensity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/xslices"
)

// Pool holds the inputs x of all samples that an Estimator will see, on the device. Samples
// refer to it by row, so that a stream's history is never copied.
type Pool struct {
	X           *tensors.Tensor // [rows, dims...] float32
	Mean, Scale []float32       // x enters g as (x - Mean) / Scale; [product of dims]

	scores []Scores // of the columns, if X has normal scores
}

// NewPool copies len(x)/size rows of the given dims to a pool, as columns says: their normal scores, or the rows with
// mean and scale of each coordinate. Coordinates that do not vary are only centred. Errors: no dims or
// impossible ones, unknown columns, no whole number of samples, and NaN or infinite values, which are named
// by sample and coordinate.
func NewPool(x []float32, columns Columns, dims ...int) (*Pool, error) {
	if len(dims) == 0 || slices.Min(dims) < 1 {
		return nil, fmt.Errorf("propensity: samples of shape %v; give one dimension or more, each at least 1", dims)
	}
	if err := OneOf("columns", cmp.Or(columns, ColumnsScaled), AllColumns()); err != nil {
		return nil, fmt.Errorf("propensity: %w", err)
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	if err := checkRows(x, size); err != nil {
		return nil, err
	}
	p := &Pool{Mean: make([]float32, size), Scale: slices.Repeat([]float32{1}, size)}
	if columns == ColumnsScores {
		p.scores = ColumnScores(x, size)
	} else {
		p.Mean, p.Scale = standardise(x, size)
	}
	p.X = p.rows(x, dims)
	return p, nil
}

var errClosed = errors.New("propensity: used after Close")

// check returns an error for what is no pool.
func (p *Pool) check() error {
	if p == nil || p.X == nil {
		return errors.New("propensity: there is no pool of samples")
	}
	if !p.X.Shape().Ok() {
		return errClosed
	}
	size := 1
	for _, d := range p.X.Shape().Dimensions[1:] {
		size *= d
	}
	if len(p.Mean) != size || len(p.Scale) != size {
		return fmt.Errorf("propensity: a pool of %d means and %d scales for samples of %d values; each value needs one",
			len(p.Mean), len(p.Scale), size)
	}
	return nil
}

// checkRows returns an error for values that are not rows of finite numbers.
func checkRows(x []float32, size int) error {
	if len(x) == 0 || len(x)%size != 0 {
		return fmt.Errorf("propensity: %d values are not a whole, positive number of samples of %d", len(x), size)
	}
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("propensity: sample %d, coordinate %d is %v; remove or replace it", i/size, i%size, v)
		}
	}
	return nil
}

// Rows copies other samples to the device, as X has those of the pool: for Score.Loss. Beyond the values of the pool,
// the normal score of a value is that of its column's least or greatest one.
func (p *Pool) Rows(x []float32) (*tensors.Tensor, error) {
	if err := checkRows(x, len(p.Mean)); err != nil {
		return nil, err
	}
	return p.rows(x, p.X.Shape().Dimensions[1:]), nil
}

// rows are x, of the pool or new, as X has them.
func (p *Pool) rows(x []float32, dims []int) *tensors.Tensor {
	if p.scores != nil {
		x = Scored(x, p.scores, xslices.Iota(0, len(p.scores)))
	}
	return tensors.FromFlatDataAndDimensions(x, append([]int{len(x) / len(p.Mean)}, dims...)...)
}

// standardise returns mean and standard deviation of each coordinate.
func standardise(x []float32, size int) (mean, scale []float32) {
	sum, squares := make([]float64, size), make([]float64, size)
	for i, v := range x {
		sum[i%size] += float64(v)
	}
	n := float64(len(x) / size)
	for j := range sum {
		sum[j] /= n
	}
	for i, v := range x {
		d := float64(v) - sum[i%size]
		squares[i%size] += d * d
	}
	mean, scale = make([]float32, size), make([]float32, size)
	for j := range sum {
		mean[j], scale[j] = float32(sum[j]), float32(math.Sqrt(squares[j]/n))
		if scale[j] <= Rounding*max(mean[j], -mean[j]) {
			scale[j] = 1
		}
	}
	return mean, scale
}

// tensors are Mean and Scale in the shape of a sample.
func (p *Pool) tensors() (mean, scale *tensors.Tensor) {
	dims := p.X.Shape().Dimensions[1:]
	return tensors.FromFlatDataAndDimensions(p.Mean, dims...), tensors.FromFlatDataAndDimensions(p.Scale, dims...)
}
