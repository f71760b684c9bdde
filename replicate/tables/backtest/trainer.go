package backtest

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// trainer trains models on weighted rows and predicts test rows.
type trainer interface {
	// predict trains one model for each list of weights of the rows of t.train, and predicts the rows of t.test with it:
	// [rows, outputs] of each model, probabilities of the classes or a number.
	predict(ctx context.Context, t *Task, weights [][]float64) ([][]float64, error)
	// identity is all of the model that can change its predictions.
	identity() string
	close()
}

// each calls work for 0..n-1, at most workers at the same time.
func each(ctx context.Context, n, workers int, work func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return work(ctx, i)
		})
	}
	return group.Wait()
}
