package figures

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tvps/data/statistics"
)

// Row is one measurement in long form: one line of the CSV.
type Row struct {
	Panel  string  // key of the panel, for example "a"
	Series string  // learner, for example "ours"
	Seed   int64   // run seed
	T      int     // time step
	Metric string  // what was measured, for example "accuracy"
	Value  float64 // in units of the metric, finite
}

// csvHeader is the first line of every CSV file, split at its commas.
var csvHeader = []string{"panel", "series", "seed", "t", "metric", "value"}

// WriteCSV writes the header and one line for each row, in the given order. Values keep every
// bit: [ReadCSV] returns equal rows, unless a name has a carriage return. A value that is not finite is an error that
// names the row.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, r := range rows {
		if !statistics.Finite(r.Value) {
			return r.notFinite()
		}
		record := []string{
			r.Panel, r.Series, strconv.FormatInt(r.Seed, 10), strconv.Itoa(r.T), r.Metric,
			strconv.FormatFloat(r.Value, 'g', -1, 64),
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// notFinite is the error of a row whose value is not finite.
func (r Row) notFinite() error {
	return fmt.Errorf("figures: panel %s, series %s, seed %d, t %d: the %s is %v, want a finite number",
		r.Panel, r.Series, r.Seed, r.T, r.Metric, r.Value)
}

// ReadCSV reads what [WriteCSV] writes. Errors name the line and what is wrong in it.
func ReadCSV(r io.Reader) ([]Row, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1 // checked below, with a clearer message
	header, err := in.Read()
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("figures: line 1: %w", err)
	}
	if !slices.Equal(header, csvHeader) {
		return nil, fmt.Errorf("figures: line 1: the header is %q, expected %q",
			strings.Join(header, ","), strings.Join(csvHeader, ","))
	}
	var rows []Row
	for {
		record, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("figures: cannot read the CSV: %w", err) // csv's error has the line
		}
		line, _ := in.FieldPos(0)
		row, err := parseRow(record)
		if err != nil {
			return nil, fmt.Errorf("figures: line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}

func parseRow(record []string) (Row, error) {
	if len(record) != len(csvHeader) {
		return Row{}, fmt.Errorf("%d fields, expected %d (%s)", len(record), len(csvHeader), strings.Join(csvHeader, ","))
	}
	row := Row{Panel: record[0], Series: record[1], Metric: record[4]}
	var err error
	if row.Seed, err = strconv.ParseInt(record[2], 10, 64); err != nil {
		return Row{}, fmt.Errorf("the seed %q is not a whole number", record[2])
	}
	if row.T, err = strconv.Atoi(record[3]); err != nil {
		return Row{}, fmt.Errorf("the step t %q is not a whole number", record[3])
	}
	if row.Value, err = strconv.ParseFloat(record[5], 64); err != nil || !statistics.Finite(row.Value) {
		return Row{}, fmt.Errorf("the value %q is not a finite number", record[5])
	}
	return row, nil
}
