// Package export works on whole folders of runs. Export writes their measurements as one table for pandas, DuckDB,
// polars or a spreadsheet. Compare measures the differences between the runs of two folders, as after a change of
// backend, machine or version. Both only read. To join folders use runs.Merge.
package export

import (
	"context"
	"fmt"

	"tvps/replicate/runs"
)

// each reads the finished runs of a folder one after the other, in the order of runs.Store.Finished. Unreadable and
// damaged files become problems, each a sentence.
func each(ctx context.Context, store *runs.Store, do func(*runs.Result) error) (problems []error, err error) {
	specs, problems, err := store.Finished()
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		if ctx.Err() != nil {
			return problems, fmt.Errorf("interrupted: %w", ctx.Err())
		}
		result, err := store.Read(spec)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if err := do(result); err != nil {
			return problems, err
		}
	}
	return problems, nil
}
