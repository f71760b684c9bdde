package main

import (
	"fmt"
	"path/filepath"

	"tvps/data/statistics"
	"tvps/figures"
)

// stream is a stream on which learners are compared: the folder and the table of its figure, and the number of seeds.
type stream struct {
	title, folder, table string
	seeds                int
}

// rows reads the stream's table below a folder.
func (s stream) rows(tables string) ([]figures.Row, error) {
	rows, err := readTable(filepath.Join(tables, s.folder), s.table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(tables, s.folder), err)
	}
	return rows, nil
}

// difference returns a learner's accuracy minus that of another by step, and the interval over seeds of the mean over
// steps, in points of accuracy. It is an error if a step has not all seeds.
func (s stream) difference(rows []figures.Row, series, base string) ([]figures.Point, statistics.Intervals, error) {
	points, err := figures.Means(rows, rows[0].Panel, "accuracy", series, base)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.folder, err)
	}
	means := make([]float64, s.seeds)
	for _, p := range points {
		if p.N != s.seeds {
			return nil, nil, fmt.Errorf("%s: %s minus %s has %d seeds of %d at step %g", s.folder, series, base, p.N, s.seeds, p.X)
		}
		for seed, v := range p.Seeds {
			means[seed] += 100 * v.Value / float64(len(points))
		}
	}
	return points, statistics.OverSeeds(means), nil
}

// readTable reads a table of a drawn figure. Without the folder or the table it is fs.ErrNotExist.
func readTable(dir, table string) ([]figures.Row, error) {
	folder, err := figures.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return folder.Rows(table)
}

// declaredMargin is that of mixture-declared.md and forgetting-declared.md in points of accuracy.
const declaredMargin = .3

// judged is an interval with its verdict: better or worse if it excludes 0, and no difference if it lies within the
// margin.
func judged(e statistics.Estimate) string {
	verdict := "undecided"
	switch {
	case e.Low > 0:
		verdict = "better"
	case e.High < 0:
		verdict = "worse"
	case -declaredMargin <= e.Low && e.High <= declaredMargin:
		verdict = "no difference"
	}
	return e.Text(2) + ", " + verdict
}
