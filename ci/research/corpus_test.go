package main

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"
)

// corpusColumn is a column as PyArrow reads it.
type corpusColumn struct {
	Name, Kind string
	Values     []*string // nil if they are not compared
}

// TestCorpus reads all Parquet files of the folder TVPS_CORPUS, and compares their values with PyArrow's, which
// TVPS_PYTHON (python3 by default) runs. It prints what is refused and ignored; a value that differs is an error.
func TestCorpus(t *testing.T) {
	folder := os.Getenv("TVPS_CORPUS")
	if folder == "" {
		t.Skip("TVPS_CORPUS names no folder of Parquet files")
	}
	var files []string
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(strings.ToLower(filepath.Base(path)), ".par") {
			files = append(files, path)
		}
		return err
	}); err != nil || len(files) == 0 {
		t.Fatalf("%d Parquet files in %s, %v", len(files), folder, err)
	}
	python := os.Getenv("TVPS_PYTHON")
	if python == "" {
		python = "python3"
	}
	command := exec.CommandContext(t.Context(), python, append([]string{"testdata/pyarrow_values.py"}, files...)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	demand.NoError(t, err)
	demand.NoError(t, command.Start())
	counts := map[string]int{}
	for lines := json.NewDecoder(out); lines.More(); {
		var file struct {
			File, Error string
			Rows        int
			Columns     []corpusColumn
		}
		demand.NoError(t, lines.Decode(&file))
		_, first := table.Open(file.File, table.Options{AnyRows: file.Rows > 0}) // many have one
		// The last of the texts occurs nowhere: texts such as NA are values.
		options := table.Options{Kinds: map[string]table.Kind{}, Missing: []string{"NaN", "inf", "no such text"},
			AnyRows: file.Rows > 0}
		kind := "flat"
		for _, c := range file.Columns {
			if c.Kind == "text" {
				options.Kinds[strings.TrimSpace(c.Name)] = table.Category
			}
			if c.Kind == "nested" {
				kind = "nested"
			}
		}
		if file.Error != "" {
			kind = "refused by PyArrow"
		} else if file.Rows == 0 || len(file.Columns) == 0 {
			kind = "no rows, or no columns"
		}
		tab, err := table.Open(file.File, options)
		counts[kind]++
		if first == nil {
			counts[kind+", read without options"]++
		}
		if err != nil {
			counts[kind+", refused"]++
			demand.Error(t, err)
			t.Logf("%s, refused: %v", kind, err)
			continue
		}
		counts[kind+", read"]++
		if file.Error != "" {
			t.Logf("PyArrow refuses %s: %s", filepath.Base(file.File), file.Error)
		}
		for _, c := range file.Columns {
			counts["columns"]++
			differ(t, file.File, tab, c, counts)
		}
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	text, _ := json.MarshalIndent(counts, "", "  ")
	t.Logf("%d files\n%s", len(files), text)
}

// differ compares a column with PyArrow's.
func differ(t *testing.T, file string, tab *table.Data, c corpusColumn, counts map[string]int) {
	columns, err := tab.Columns([]string{strings.TrimSpace(c.Name)}, nil)
	if err != nil {
		counts["columns, ignored"]++
		if c.Values != nil {
			for _, s := range tab.Schema().Columns {
				if s.Name == strings.TrimSpace(c.Name) && s.Missing == tab.Rows() && s.Note != "no values" {
					t.Logf("ignored: %s, %s: %s", filepath.Base(file), s.Name, s.Note)
				}
			}
		}
		return
	}
	if c.Values == nil {
		counts["columns, not compared"]++
		return
	}
	for i, want := range c.Values {
		missing := columns[0].Missing != nil && columns[0].Missing[i]
		same := false
		switch v := columns[0].Values.(type) {
		case []float64:
			same = want == nil && math.IsNaN(v[i]) || want != nil && sameNumber(v[i], *want)
		case []int64:
			same = want != nil && sameNumber(float64(v[i]), *want)
		case []bool:
			same = want == nil && missing || want != nil && !missing && *want == strconv.FormatBool(v[i])
		case []string:
			if want != nil {
				text := strings.Trim(*want, " \t")
				same = missing && text == "" || !missing && text == v[i] // an empty text is missing, as in CSV
			} else {
				same = missing
			}
		case []time.Time:
			same = want == nil && missing || want != nil && !missing && *want == strconv.FormatInt(v[i].UnixMicro(), 10)
		}
		if !same {
			text := "null"
			if want != nil {
				text = *want
			}
			t.Errorf("%s, column %q (%s), row %d differs: PyArrow has %s", file, c.Name, c.Kind, i+1, text)
			counts["columns, differing"]++
			return
		}
	}
	counts["columns, equal"]++
}

// sameNumber compares a number with PyArrow's, which may be a float32.
func sameNumber(v float64, text string) bool {
	want, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return false
	case math.IsNaN(want) || math.IsInf(want, 0):
		return math.IsNaN(v)
	}
	return v == want || float64(float32(v)) == want
}
