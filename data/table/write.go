package table

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/parquet-go/parquet-go"
)

// Column is a column to write. Values is one of []float64, []float32, []int64, []int32, []int, []bool, []string and
// []time.Time. NaN, and values where Missing is true, become null in Parquet and an empty field in CSV.
type Column struct {
	Name    string
	Values  any
	Missing []bool // nil if no value is missing, apart from NaN
}

// cells is a column to write, by type.
type cells struct {
	Column
	rows  int
	node  parquet.Node
	value func(i int) parquet.Value
	text  func(buf []byte, i int) []byte
	null  func(i int) bool // nil if no value can be missing
}

// prepare checks a column.
func (c Column) prepare() (*cells, error) {
	out := &cells{Column: c}
	var nan func(i int) bool
	switch v := c.Values.(type) {
	case []float64:
		out.rows, out.node = len(v), parquet.Leaf(parquet.DoubleType)
		out.value = func(i int) parquet.Value { return parquet.DoubleValue(v[i]) }
		out.text = func(b []byte, i int) []byte { return strconv.AppendFloat(b, v[i], 'g', -1, 64) }
		if slices.ContainsFunc(v, func(v float64) bool { return v != v }) {
			nan = func(i int) bool { return v[i] != v[i] }
		}
	case []float32:
		out.rows, out.node = len(v), parquet.Leaf(parquet.FloatType)
		out.value = func(i int) parquet.Value { return parquet.FloatValue(v[i]) }
		out.text = func(b []byte, i int) []byte { return strconv.AppendFloat(b, float64(v[i]), 'g', -1, 32) }
		if slices.ContainsFunc(v, func(v float32) bool { return v != v }) {
			nan = func(i int) bool { return v[i] != v[i] }
		}
	case []int64:
		integers(out, v)
	case []int32:
		integers(out, v)
	case []int:
		integers(out, v)
	case []bool:
		out.rows, out.node = len(v), parquet.Leaf(parquet.BooleanType)
		out.value = func(i int) parquet.Value { return parquet.BooleanValue(v[i]) }
		out.text = func(b []byte, i int) []byte { return strconv.AppendBool(b, v[i]) }
	case []string:
		out.rows, out.node = len(v), parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		out.value = func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(v[i])) }
		out.text = func(b []byte, i int) []byte { return appendField(b, v[i]) }
	case []time.Time:
		out.rows, out.node = len(v), parquet.Timestamp(parquet.Microsecond)
		out.value = func(i int) parquet.Value { return parquet.Int64Value(v[i].UnixMicro()) }
		out.text = func(b []byte, i int) []byte { return v[i].UTC().AppendFormat(b, "2006-01-02T15:04:05.999999Z07:00") }
	default:
		return nil, fmt.Errorf("table: column %s has values of type %T", quote(c.Name), c.Values)
	}
	if c.Missing != nil && len(c.Missing) != out.rows {
		return nil, fmt.Errorf("table: column %s has %d values, but Missing has %d", quote(c.Name), out.rows,
			len(c.Missing))
	}
	switch missing := c.Missing; {
	case missing != nil && nan != nil:
		out.null = func(i int) bool { return missing[i] || nan(i) }
	case missing != nil:
		out.null = func(i int) bool { return missing[i] }
	default:
		out.null = nan
	}
	if out.null != nil {
		out.node = parquet.Optional(out.node)
	}
	return out, nil
}

// integers are written as INT64.
func integers[T int | int32 | int64](c *cells, v []T) {
	c.rows, c.node = len(v), parquet.Leaf(parquet.Int64Type)
	c.value = func(i int) parquet.Value { return parquet.Int64Value(int64(v[i])) }
	c.text = func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) }
}

// prepare checks columns: at least one, with different names, of the same length.
func prepare(columns []Column) ([]*cells, int, error) {
	var list []*cells
	for i, c := range columns {
		p, err := c.prepare()
		if err != nil {
			return nil, 0, err
		}
		if c.Name == "" || slices.ContainsFunc(columns[:i], func(o Column) bool { return o.Name == c.Name }) {
			return nil, 0, fmt.Errorf("table: column %d has no name of its own (%s)", i+1, quote(c.Name))
		}
		if list = append(list, p); p.rows != list[0].rows {
			return nil, 0, fmt.Errorf("table: column %s has %d rows, but %s has %d", quote(c.Name), p.rows,
				quote(list[0].Name), list[0].rows)
		}
	}
	if len(list) == 0 {
		return nil, 0, fmt.Errorf("table: no columns to write")
	}
	return list, list[0].rows, nil
}

// Write writes a Parquet file, or a CSV file if the name ends with .csv. See WriteParquet and WriteCSV.
func Write(path string, columns ...Column) error {
	if strings.HasSuffix(strings.ToLower(path), ".csv") {
		return WriteCSV(path, columns...)
	}
	return WriteParquet(path, columns...)
}

// WriteParquet writes a Parquet file, compressed with zstd. The file appears when it is complete; if an error occurs,
// one that was there stays.
func WriteParquet(path string, columns ...Column) error {
	list, rows, err := prepare(columns)
	if err != nil {
		return err
	}
	return atomically(path, func(w io.Writer) error { return writeParquet(w, list, rows) })
}

// WriteCSV writes a CSV file in UTF-8 with a header, as WriteParquet does. Numbers have all their digits, times are in
// UTC.
func WriteCSV(path string, columns ...Column) error {
	list, rows, err := prepare(columns)
	if err != nil {
		return err
	}
	return atomically(path, func(w io.Writer) error { return writeCSV(w, list, rows) })
}

// atomically writes a file under a temporary name, and renames it.
func atomically(path string, write func(io.Writer) error) error {
	f, err := artifact.Create(path, 0o644)
	if err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	defer f.Cleanup()
	w := bufio.NewWriterSize(f, 1<<18)
	if err := write(w); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	if err := w.Flush(); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	if err := artifact.Commit(f); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	return nil
}

// inOrder is a group whose fields keep their order. parquet.Group sorts them.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

func (o inOrder) Fields() []parquet.Field { return o.fields }

// rowsPerGroup bounds the rows of a row group.
const rowsPerGroup = 1 << 18

func writeParquet(w io.Writer, columns []*cells, rows int) error {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.Name] = c.node
	}
	root := inOrder{Group: group}
	byName := map[string]parquet.Field{}
	for _, field := range group.Fields() {
		byName[field.Name()] = field
	}
	for _, c := range columns {
		root.fields = append(root.fields, byName[c.Name])
	}
	out := parquet.NewWriter(w, parquet.NewSchema("table", root), parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("tvps", "1", ""))
	values := make([]parquet.Value, 0, 1<<12)
	for from := 0; from < rows; from += rowsPerGroup {
		to := min(from+rowsPerGroup, rows)
		for k, writer := range out.ColumnWriters() {
			c := columns[k]
			for i := from; i < to; i++ {
				v, level := parquet.Value{}, 0
				if c.null == nil || !c.null(i) {
					v = c.value(i)
					if c.null != nil {
						level = 1
					}
				}
				if values = append(values, v.Level(0, level, k)); len(values) == cap(values) || i == to-1 {
					if _, err := writer.WriteRowValues(values); err != nil {
						return err
					}
					values = values[:0]
				}
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return out.Close()
}

func writeCSV(w io.Writer, columns []*cells, rows int) error {
	var line []byte
	for k, c := range columns {
		if k > 0 {
			line = append(line, ',')
		}
		line = appendField(line, c.Name)
	}
	for i := range rows + 1 {
		if i > 0 {
			line = line[:0]
			for k, c := range columns {
				if k > 0 {
					line = append(line, ',')
				}
				if c.null == nil || !c.null(i-1) {
					line = c.text(line, i-1)
				}
			}
			if len(line) == 0 {
				line = append(line, `""`...) // a blank line would be no row
			}
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendField appends a text, in quotes if it needs them.
func appendField(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r") && text == strings.TrimSpace(text) {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

// Columns returns columns of the table as they were read, to write some rows of them: for a trainer of the user. nil
// names are all columns but text, which is not kept; nil rows are all rows.
func (t *Table) Columns(names []string, rows []int) ([]Column, error) {
	if names == nil {
		for _, c := range t.columns {
			if c.kind != Text {
				names = append(names, c.name)
			}
		}
	}
	if err := t.checkIndices(rows); err != nil {
		return nil, err
	}
	var out []Column
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.kind == Text {
			return nil, t.errorf(-1, name, "leave it out, or set its kind", "the column is text, which is not kept")
		}
		out = append(out, c.export(rows))
	}
	return out, nil
}

// export copies rows of a column.
func (c *column) export(rows []int) Column {
	out := Column{Name: c.name}
	n := len(c.values) + len(c.code)
	if rows != nil {
		n = len(rows)
	}
	switch c.kind {
	case Number:
		values := make([]float64, n)
		c.each(rows, func(k, i int) { values[k] = c.number(i) })
		whole := c.missing == 0
		c.each(nil, func(_, i int) { // of all rows, so that all parts of a table have one type
			v := c.number(i)
			whole = whole && v == math.Trunc(v) && math.Abs(v) <= 1<<53
		})
		if out.Values = values; whole { // an integer stays one
			integers := make([]int64, n)
			for k, v := range values {
				integers[k] = int64(v)
			}
			out.Values = integers
		}
		return out
	case Category:
		values := make([]string, n)
		c.each(rows, func(k, i int) {
			if code := c.code[i]; code > 0 {
				values[k] = c.levels[code-1]
			}
		})
		out.Values = values
	case Boolean:
		values := make([]bool, n)
		c.each(rows, func(k, i int) { values[k] = c.values[i] == 1 })
		out.Values = values
	case Time:
		values := make([]time.Time, n)
		c.each(rows, func(k, i int) {
			if v := c.values[i]; !math.IsNaN(v) {
				values[k] = time.UnixMicro(int64(v)).UTC()
			}
		})
		out.Values = values
	}
	if c.missing > 0 {
		out.Missing = make([]bool, n)
		c.each(rows, func(k, i int) { out.Missing[k] = c.isMissing(i) })
	}
	return out
}
