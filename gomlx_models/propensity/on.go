package propensity

import (
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"
)

// On returns the estimator for another pool of the same shape, as another seed's
// stream: it shares the compiled programs.
func (e *Estimator) On(pool *Pool) (*Estimator, error) {
	if have, want := pool.X.Shape(), e.pool.X.Shape(); !have.Equal(want) {
		return nil, fmt.Errorf("propensity: a pool of shape %s for an estimator of shape %s", have, want)
	}
	other := *e
	dims := pool.X.Shape().Dimensions[1:]
	other.pool = pool
	other.mean = tensors.FromFlatDataAndDimensions(pool.Mean, dims...)
	other.scale = tensors.FromFlatDataAndDimensions(pool.Scale, dims...)
	return &other, nil
}
