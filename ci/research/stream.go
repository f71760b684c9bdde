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

// difference is a learner's accuracy minus that of another: by step, and the intervals of the mean over steps, in
// points of accuracy. They are over the seeds, for the steps that were computed; and over those left out, too.
type difference struct {
	steps           []figures.Point
	seeds, allSteps statistics.Intervals
}

// difference compares two learners. It is an error if a step has not all seeds.
func (s stream) difference(rows []figures.Row, series, base string) (d difference, err error) {
	if d.steps, err = figures.Means(rows, rows[0].Panel, "accuracy", series, base); err != nil {
		return d, fmt.Errorf("%s: %w", s.folder, err)
	}
	grid := make([][]float64, s.seeds)
	for _, p := range d.steps {
		if p.N != s.seeds {
			return d, fmt.Errorf("%s: %s minus %s has %d seeds of %d at step %g", s.folder, series, base, p.N, s.seeds, p.X)
		}
		for seed, v := range p.Seeds {
			grid[seed] = append(grid[seed], 100*v.Value)
		}
	}
	stride := 1.
	if len(d.steps) > 1 {
		stride = d.steps[1].X - d.steps[0].X
	}
	d.seeds, d.allSteps = statistics.OverSeedsAndSteps(grid, 0), statistics.OverSeedsAndSteps(grid, 1-1/stride)
	return d, nil
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

// judged is the interval over seeds of a level with its verdict, which was declared, and that with the steps left out
// with its own: better or worse if it excludes 0, and no difference if it lies within the margin.
func (d difference) judged(level float64) string {
	e := d.allSteps(level)
	return fmt.Sprintf("%s, %s<br>all steps: [%+.2f, %+.2f], %s", d.seeds(level).Text(2), verdict(d.seeds(level)), e.Low, e.High,
		verdict(e))
}

func verdict(e statistics.Estimate) string {
	switch {
	case e.Low > 0:
		return "better"
	case e.High < 0:
		return "worse"
	case -declaredMargin <= e.Low && e.High <= declaredMargin:
		return "no difference"
	}
	return "undecided"
}
