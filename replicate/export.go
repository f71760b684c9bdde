package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"tvps/data/table"
	"tvps/replicate/runs"
)

// measurement is one line of the table.
type measurement struct {
	runs.Row
	of       *runs.Result
	run      string // its ID
	settings string // a JSON object of texts, sorted by name
}

// exported says what a table holds.
type exported struct {
	runs, rows int
	unfinished int     // runs that are being computed or were interrupted: not in the table
	problems   []error // unreadable and damaged files, each a sentence: not in the table
}

// exportRuns writes the rows of all finished runs of a folder as one table in long form, CSV or Parquet: sorted by
// experiment, learner, seed and ID, and within a run in its own order. Equal runs give equal bytes. Errors: a folder
// that cannot be listed, a writer that fails, or ctx cancelled.
func exportRuns(ctx context.Context, store *runs.Store, w io.Writer, parquet bool) (out exported, err error) {
	specs, problems, err := store.Finished()
	if err != nil {
		return out, err
	}
	out.problems = problems
	var rows []measurement
	finished := map[string]bool{}
	for _, spec := range specs {
		if ctx.Err() != nil {
			return out, fmt.Errorf("interrupted: %w", ctx.Err())
		}
		result, err := store.Read(spec)
		if err != nil {
			out.problems = append(out.problems, err)
			continue
		}
		settings, _ := json.Marshal(spec.Settings) // texts always encode
		result.Provenance.Start = result.Provenance.Start.UTC()
		for _, row := range result.Rows {
			rows = append(rows, measurement{row, result, spec.ID(), string(settings)})
		}
		finished[spec.ID()] = true
	}
	unfinished, _, err := store.Unfinished()
	if err != nil {
		return out, err
	}
	unfinished = slices.DeleteFunc(unfinished, func(spec runs.Spec) bool { return finished[spec.ID()] })
	out.runs, out.rows, out.unfinished = len(finished), len(rows), len(unfinished)
	columns := columnsOf(rows)
	if !parquet {
		return out, writeCSV(w, columns, len(rows))
	}
	return out, table.WriteParquet(w, columns...)
}

// columnsOf are the columns of the table: plugin is its release, commit that of the last session, dirty whether files
// differed from it, seconds those of the whole run. The empty text of an optional one is unknown.
func columnsOf(rows []measurement) []table.Column {
	columns := []table.Column{
		columnOf("experiment", rows, func(m measurement) string { return m.of.Spec.Experiment }),
		columnOf("learner", rows, func(m measurement) string { return m.of.Spec.Learner }),
		columnOf("seed", rows, func(m measurement) int64 { return m.of.Spec.Seed }),
		columnOf("t", rows, func(m measurement) int { return m.T }),
		columnOf("metric", rows, func(m measurement) string { return m.Metric }),
		columnOf("value", rows, func(m measurement) float64 { return m.Value }),
		columnOf("run", rows, func(m measurement) string { return m.run }),
		columnOf("settings", rows, func(m measurement) string { return m.settings }),
		columnOf("backend", rows, func(m measurement) string { return m.of.Provenance.Backend }),
		columnOf("plugin", rows, func(m measurement) string { return m.of.Provenance.Versions["plugin"] }),
		columnOf("commit", rows, func(m measurement) string { return m.of.Provenance.Commit }),
		columnOf("dirty", rows, func(m measurement) bool { return m.of.Provenance.Dirty }),
		columnOf("started", rows, func(m measurement) time.Time { return m.of.Provenance.Start }),
		columnOf("seconds", rows, func(m measurement) float64 { return m.of.Provenance.Seconds }),
	}
	for i, c := range columns {
		if slices.Contains([]string{"backend", "plugin", "commit"}, c.Name) {
			columns[i].Missing = make([]bool, len(rows))
			for k, text := range c.Values.([]string) {
				columns[i].Missing[k] = text == ""
			}
		}
	}
	return columns
}

func columnOf[T any](name string, rows []measurement, of func(m measurement) T) table.Column {
	values := make([]T, len(rows))
	for i, m := range rows {
		values[i] = of(m)
	}
	return table.Column{Name: name, Values: values}
}

// exportedNames are the names of the columns.
func exportedNames() (names []string) {
	for _, c := range columnsOf(nil) {
		names = append(names, c.Name)
	}
	return names
}

// writeCSV writes n rows without loss. A name that a spreadsheet would run as a formula begins with an apostrophe.
func writeCSV(w io.Writer, columns []table.Column, n int) error {
	out, record := csv.NewWriter(w), exportedNames()
	_ = out.Write(record) // Error returns the first one
	for i := range n {
		for k, c := range columns {
			switch v := reflect.ValueOf(c.Values).Index(i).Interface().(type) {
			case string:
				record[k] = v
				if v != "" && strings.Contains("=+-@\t\r", v[:1]) {
					record[k] = "'" + v
				}
			case time.Time:
				record[k] = v.Format("2006-01-02T15:04:05.000000Z")
			default:
				record[k] = fmt.Sprint(v)
			}
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}
