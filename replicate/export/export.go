// Package export writes the measurements of a whole folder of runs as one table, for pandas, DuckDB, polars or a
// spreadsheet.
package export

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tvps/data/table"
	"tvps/replicate/runs"
)

// Formats of a table.
const (
	CSV     = "csv"     // with a header; an unknown value is an empty field
	Parquet = "parquet" // typed columns, dictionaries for text, zstd; an unknown value is null
)

// Formats lists them.
var Formats = []string{CSV, Parquet}

// measurement is one line of the table. The tags are the columns of both formats; an optional value that is empty is
// unknown.
type measurement struct {
	Experiment string    `column:"experiment"`
	Learner    string    `column:"learner"`
	Seed       int64     `column:"seed"`
	T          int64     `column:"t"`
	Metric     string    `column:"metric"`
	Value      float64   `column:"value"`
	Run        string    `column:"run"`      // the run's ID
	Settings   string    `column:"settings"` // a JSON object of texts, sorted by name
	Backend    string    `column:"backend,optional"`
	Plugin     string    `column:"plugin,optional"` // its release
	Commit     string    `column:"commit,optional"` // of the last session
	Dirty      bool      `column:"dirty"`           // whether files differed from the commit
	Started    time.Time `column:"started"`
	Seconds    float64   `column:"seconds"` // of the whole run
}

// rowGroup is the number of rows that a Parquet writer holds in memory.
const rowGroup = 1 << 17

// Exported says what a table holds.
type Exported struct {
	Runs, Rows int
	Unfinished int     // runs that are being computed or were interrupted: not in the table
	Problems   []error // unreadable and damaged files, each a sentence: not in the table
}

// Export writes the rows of all finished runs of a folder as one table in long form: sorted by experiment, learner,
// seed and ID, and within a run in its own order. Equal runs give equal bytes. Only one run is in memory at a time.
// Errors: a folder that cannot be listed, a writer that fails, or ctx cancelled.
func Export(ctx context.Context, store *runs.Store, w io.Writer, format string) (Exported, error) {
	var out Exported
	specs, problems, err := store.Finished()
	if err != nil {
		return out, err
	}
	out.Problems = problems
	table := newTable(w, format)
	finished := map[string]bool{}
	for _, spec := range specs {
		if ctx.Err() != nil {
			return out, fmt.Errorf("interrupted: %w", ctx.Err())
		}
		result, err := store.Read(spec)
		if err != nil {
			out.Problems = append(out.Problems, err)
			continue
		}
		rows := measurements(result)
		if err := table.Write(rows); err != nil {
			return out, err
		}
		finished[spec.ID()] = true
		out.Runs, out.Rows = out.Runs+1, out.Rows+len(rows)
	}
	unfinished, _, err := store.Unfinished()
	if err != nil {
		return out, err
	}
	unfinished = slices.DeleteFunc(unfinished, func(spec runs.Spec) bool { return finished[spec.ID()] })
	out.Unfinished = len(unfinished)
	return out, table.Close()
}

// measurements are the lines of one run.
func measurements(result *runs.Result) []measurement {
	spec, from := result.Spec, result.Provenance
	settings, _ := json.Marshal(spec.Settings) // texts always encode
	rows := make([]measurement, len(result.Rows))
	for i, row := range result.Rows {
		rows[i] = measurement{
			Experiment: spec.Experiment, Learner: spec.Learner, Seed: spec.Seed,
			T: int64(row.T), Metric: row.Metric, Value: row.Value,
			Run: spec.ID(), Settings: string(settings),
			Backend: from.Backend, Plugin: from.Versions["plugin"], Commit: from.Commit, Dirty: from.Dirty,
			Started: from.Start.UTC(), Seconds: from.Seconds,
		}
	}
	return rows
}

// tableWriter writes lines of the table.
type tableWriter interface {
	Write([]measurement) error
	Close() error
}

func newTable(w io.Writer, format string) tableWriter {
	if format == Parquet {
		return &parquetTable{out: table.NewParquetWriter(w)}
	}
	table := csvTable{csv.NewWriter(w)}
	_ = table.out.Write(Columns()) // an error here returns in Close
	return table
}

// parquetTable holds the lines of a row group.
type parquetTable struct {
	out     *table.ParquetWriter
	rows    []measurement
	written bool
}

func (p *parquetTable) Write(rows []measurement) error {
	for len(p.rows)+len(rows) >= rowGroup {
		n := rowGroup - len(p.rows)
		p.rows = append(p.rows, rows[:n]...)
		rows = rows[n:]
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.rows = append(p.rows, rows...)
	return nil
}

func (p *parquetTable) Close() error {
	if len(p.rows) > 0 || !p.written { // a table without lines has columns, too
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.out.Close()
}

func (p *parquetTable) flush() error {
	var columns []table.Column
	for field := range reflect.TypeFor[measurement]().Fields() {
		name, optional, _ := strings.Cut(field.Tag.Get("column"), ",")
		values := reflect.MakeSlice(reflect.SliceOf(field.Type), len(p.rows), len(p.rows))
		c := table.Column{Name: name, Values: values.Interface()}
		if optional != "" {
			c.Missing = make([]bool, len(p.rows))
		}
		for i := range p.rows {
			v := reflect.ValueOf(&p.rows[i]).Elem().FieldByIndex(field.Index)
			if values.Index(i).Set(v); c.Missing != nil {
				c.Missing[i] = v.IsZero()
			}
		}
		columns = append(columns, c)
	}
	p.rows, p.written = p.rows[:0], true
	return p.out.Write(columns...)
}

// Columns are the names of the table's columns, in their order.
func Columns() []string {
	var names []string
	for field := range reflect.TypeFor[measurement]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("column"), ",")
		names = append(names, name)
	}
	return names
}

type csvTable struct{ out *csv.Writer }

func (c csvTable) Write(rows []measurement) error {
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		record := make([]string, v.NumField())
		for j := range record {
			record[j] = text(v.Field(j).Interface())
		}
		if err := c.out.Write(record); err != nil {
			return err
		}
	}
	return nil
}

func (c csvTable) Close() error {
	c.out.Flush()
	return c.out.Error()
}

// text writes a value without loss; times are in UTC. A name that a spreadsheet would run as a formula begins with an
// apostrophe.
func text(value any) string {
	switch v := value.(type) {
	case string:
		if v != "" && strings.Contains("=+-@\t\r", v[:1]) {
			return "'" + v
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format("2006-01-02T15:04:05.000000Z")
	}
	return fmt.Sprint(value)
}
