package table_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"
)

// TestREADME: each row of the table of cells in README.md is read as it says.
func TestREADME(t *testing.T) {
	text := demand.Read(t, "README.md")
	_, rows, _ := strings.Cut(string(text), "| cells | flags | read as |\n|---|---|---|\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	tested := 0
	for row := range strings.Lines(rows) {
		parts := strings.Split(strings.Trim(row, "| \n"), "|")
		if len(parts) != 3 {
			t.Fatalf("row %q", row)
		}
		cells, want := codes(parts[0]), strings.TrimSpace(parts[2])
		got := readAs(t, cells, strings.Join(codes(parts[1]), " "))
		if problem, ok := strings.CutPrefix(want, "error: "); ok {
			if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, problem) {
				t.Errorf("%s%s, want an error with %q", row, got, problem)
			}
		} else if got != want {
			t.Errorf("%sis read as %s", row, got)
		}
		tested++
	}
	if tested < 20 {
		t.Errorf("%d rows", tested)
	}
}

// codes lists the texts between backquotes.
func codes(text string) (out []string) {
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}

// readAs reads a column v of these cells, each three times, and says what it holds.
func readAs(t *testing.T, cells []string, flag string) string {
	o := table.Options{Delim: ';'}
	name, value, _ := strings.Cut(flag, " ")
	of := map[string]string{"v": strings.TrimPrefix(value, "v=")}
	switch name {
	case "":
	case "--decimal":
		o.Decimal = value[0]
	case "--type":
		o.Kinds = map[string]table.Kind{"v": table.Kind(of["v"])}
	case "--layout":
		o.Layouts = of
	case "--missing":
		o.Missing = []string{value}
	default:
		t.Fatalf("flag %q", flag)
	}
	csv := "row;v\n"
	for i := range 3 * len(cells) {
		csv += fmt.Sprintf("%d;%s\n", i, cells[i%len(cells)])
	}
	tab, err := table.Read("x.csv", strings.NewReader(csv), int64(len(csv)), o)
	if err != nil {
		return "error: " + err.Error()
	}
	columns, err := tab.Columns([]string{"v"}, nil)
	if err != nil { // the column is text: why, says what a column of times must be
		_, err = tab.Times("v", table.Bin{})
		return fmt.Sprintf("error: %v", err)
	}
	var words []string
	for i := range cells {
		words = append(words, word(columns[0], i))
	}
	return fmt.Sprintf("%s: %s", tab.Schema().Columns[1].Kind, strings.Join(words, ", "))
}

// word is a value of a column as text.
func word(c table.Column, i int) string {
	if c.Missing != nil && c.Missing[i] {
		return "missing"
	}
	switch v := c.Values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return "missing"
		}
		return fmt.Sprint(v[i])
	case []int64:
		return fmt.Sprint(v[i])
	case []bool:
		return fmt.Sprint(v[i])
	case []time.Time:
		return strings.TrimSuffix(v[i].Format(time.RFC3339), "T00:00:00Z")
	}
	return c.Values.([]string)[i]
}
