package table_test

import (
	"os"
	"path/filepath"
	"testing"

	"tvps/data/table"
)

// dataFile is a file of the folder of real tables, which are not in the repository.
func dataFile(t testing.TB, name string) string {
	for dir := ".."; len(dir) < 40; dir = filepath.Join("..", dir) {
		path := filepath.Join(dir, "shared", "data", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("there is no shared/data/%s", name)
	return ""
}

// TestRealFiles: the schemas of two real tables are inferred right.
func TestRealFiles(t *testing.T) {
	for _, test := range []struct {
		name          string
		rows, columns int
		kinds         map[string]table.Kind
	}{
		{"weather.csv", 18159, 9, nil},
		{"bikes.csv", 17379, 17, map[string]table.Kind{"dateday": table.Time}},
	} {
		tab, err := table.Open(dataFile(t, test.name), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := tab.Schema()
		if s.Rows != test.rows || len(s.Columns) != test.columns || s.Format != "CSV, delimiter ," {
			t.Errorf("%s has %d rows, %d columns, format %s", test.name, s.Rows, len(s.Columns), s.Format)
		}
		for _, c := range s.Columns {
			want := table.Number
			if kind, given := test.kinds[c.Name]; given {
				want = kind
			}
			if c.Kind != want || c.Missing > 0 {
				t.Errorf("%s: column %s is a %s with %d missing, want a %s", test.name, c.Name, c.Kind, c.Missing, want)
			}
		}
	}
}
