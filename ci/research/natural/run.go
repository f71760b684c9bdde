package natural

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/replicate/tables/backtest"
)

// Run computes the losses of a table in a suite, or takes them from the store of the host, and writes them to the
// folder. A table that is not there is an error that wraps fs.ErrNotExist.
func Run(ctx context.Context, h backtest.Host, s Suite, t Dataset, folder string) error {
	q, err := s.Request(t, folder)
	if err != nil {
		return err
	}
	if _, err := os.Stat(q.File); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make it with %s", err, filepath.Join(folder, "tables.py"))
	}
	job, err := backtest.Prepare(q)
	if err != nil {
		return err
	}
	found, err := job.Run(ctx, h)
	if err != nil {
		return err
	}
	return lossesOf(found).write(folder, t, s)
}
