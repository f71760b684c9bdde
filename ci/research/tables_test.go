//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"
)

// benchRows is the number of rows of the benchmarks: TVPS_TABLE_ROWS, for instance 1000000, or 20,000.
func benchRows(b *testing.B) int {
	if text := os.Getenv("TVPS_TABLE_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 7*24*60 {
			b.Fatalf("TVPS_TABLE_ROWS is %q; name more rows than a week has minutes, 10080", text)
		}
		return n
	}
	return 20_000
}

// benchFile writes a table of 50 columns: a time, a label, 40 numbers and 8 categories.
func benchFile(b *testing.B, name string, rows int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	rng := rand.New(rand.NewPCG(1, 2))
	var columns []table.Column
	day, label := make([]time.Time, rows), make([]bool, rows)
	for i := range rows {
		day[i], label[i] = time.Unix(int64(i)*60, 0), rng.IntN(2) == 0
	}
	columns = append(columns, table.Column{Name: "day", Values: day}, table.Column{Name: "y", Values: label})
	for c := range 40 {
		v := make([]float64, rows)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		columns = append(columns, table.Column{Name: fmt.Sprint("n", c), Values: v})
	}
	for c := range 8 {
		v := make([]string, rows)
		for i := range v {
			v[i] = fmt.Sprint("level ", rng.IntN(10*(c+1)))
		}
		columns = append(columns, table.Column{Name: fmt.Sprint("c", c), Values: v})
	}
	demand.NoError(b, table.Write(path, columns...))
	return path
}

// peak is the largest resident memory of the process so far in MiB.
func peak() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Maxrss) / 1024
}

// BenchmarkOpen reads a table of 50 columns and encodes 48 of them. Writing the file first uses memory, too: for the
// peak of reading alone, TVPS_TABLE_FILE names a file that exists.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"x.csv", "x.parquet"} {
		b.Run(filepath.Ext(name)[1:], func(b *testing.B) {
			path := os.Getenv("TVPS_TABLE_FILE")
			if path == "" {
				path = benchFile(b, name, benchRows(b))
				runtime.GC()
			} else if filepath.Ext(path) != filepath.Ext(name) {
				b.Skip("another format")
			}
			var encode time.Duration
			for b.Loop() {
				tab, err := table.Open(path, table.Options{})
				demand.NoError(b, err)
				start := time.Now()
				names, err := tab.Features("day", "y")
				demand.NoError(b, err)
				e, err := tab.Fit(names, nil)
				demand.NoError(b, err)
				_, err = e.Encode(tab, nil)
				demand.NoError(b, err)
				_, err = tab.Times("day", table.Bin{Unit: "week"})
				demand.NoError(b, err)
				_, err = tab.Label("y", table.AnyLabel)
				demand.NoError(b, err)
				encode += time.Since(start)
			}
			b.ReportMetric(encode.Seconds()/float64(b.N), "encode-s/op")
			b.ReportMetric(peak(), "peak-MiB")
		})
	}
}

// BenchmarkWrite writes a table of 50 columns.
func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"x.csv", "x.parquet"} {
		b.Run(filepath.Ext(name)[1:], func(b *testing.B) {
			rows := benchRows(b)
			keep := os.Getenv("TVPS_TABLE_KEEP") // a folder for the files
			for b.Loop() {
				path := benchFile(b, name, rows)
				if keep != "" {
					os.Rename(path, filepath.Join(keep, name))
				}
			}
		})
	}
}
