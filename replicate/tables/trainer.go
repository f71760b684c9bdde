package tables

import (
	"context"
	"io"
	"slices"
	"strings"

	"tvps/replicate/usage"

	"github.com/gomlx/compute"
	"golang.org/x/sync/errgroup"
)

// trainer trains models on weighted rows and predicts test rows.
type trainer interface {
	// predict trains one model for each list of weights of the rows of t.train, and predicts the rows of t.test with it:
	// [rows, outputs] of each model, probabilities of the classes or a number.
	predict(ctx context.Context, t *task, weights [][]float64) ([][]float64, error)
	// identity is all of the model that can change its predictions.
	identity() string
	close() error
}

// Models are the names of the built-in models.
var Models = []string{"logistic", "mlp"}

// Prefixes of a model that is the user's own command.
const (
	execPrefix  = "exec:"
	servePrefix = "serve:"
)

// CheckModel returns a usage error if text is neither a built-in model nor a command.
func CheckModel(text string) error {
	for _, prefix := range []string{execPrefix, servePrefix} {
		if command, ok := strings.CutPrefix(text, prefix); ok {
			if strings.TrimSpace(command) == "" {
				return usage.Errorf("the model %q names no command; give one such as \"exec:python train.py\"", text)
			}
			return nil
		}
	}
	if !slices.Contains(Models, text) {
		return usage.Errorf("the model %q is neither %s nor a command such as \"exec:python train.py\"", text,
			strings.Join(Models, ", "))
	}
	return nil
}

// newTrainer returns the trainer of a model that CheckModel accepts. At most workers models train at the same time. log
// gets the warnings of a command.
func newTrainer(text string, backend compute.Backend, workers int, seed int64, log io.Writer) (trainer, error) {
	for _, prefix := range []string{execPrefix, servePrefix} {
		if command, ok := strings.CutPrefix(text, prefix); ok {
			return newCommand(command, prefix == servePrefix, workers, log)
		}
	}
	if text == "mlp" {
		return newMLP(backend, seed), nil
	}
	return &linear{workers: workers}, nil
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
