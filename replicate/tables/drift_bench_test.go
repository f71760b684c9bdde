package tables

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"tvps/data/table"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/propensity/crossfit"
)

// BenchmarkMeasure measures a Parquet file of 50 columns: a time of 120 values, a label, 40 numbers, of which one
// drifts, and 8 categories of 10 to 80 levels. TVPS_TABLE_ROWS is its number of rows, for instance 1000000, or
// 20,000.
func BenchmarkMeasure(b *testing.B) {
	rows := 20_000
	if text := os.Getenv("TVPS_TABLE_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			b.Fatalf("TVPS_TABLE_ROWS is %q", text)
		}
		rows = n
	}
	rng := rand.New(rand.NewPCG(1, 2))
	day, label := make([]int64, rows), make([]bool, rows)
	for i := range rows {
		day[i], label[i] = int64(i*120/rows), rng.IntN(2) == 0
	}
	columns := []table.Column{{Name: "day", Values: day}, {Name: "y", Values: label}}
	for c := range 40 {
		v := make([]float64, rows)
		for i := range v {
			if v[i] = rng.NormFloat64(); c == 7 {
				v[i] += float64(day[i]) / 60
			}
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
	file := filepath.Join(b.TempDir(), "table.parquet")
	if err := table.Write(file, columns...); err != nil {
		b.Fatal(err)
	}
	columns = nil
	q := Request{Source: Source{File: file, Time: "day", Label: "y"}, Fit: crossfit.DefaultConfig()}
	shown := ""
	begin := time.Now()
	progress := func(share float64, next string) {
		if next != shown {
			b.Logf("%s after %s", next, time.Since(begin).Round(time.Second/10))
		}
		shown = next
	}
	backend := backendtest.Open(b, "").Backend
	for b.Loop() {
		p, err := PrepareDrift(q)
		if err != nil {
			b.Fatal(err)
		}
		r, err := p.Measure(context.Background(), backend, progress)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.WritePage(b.TempDir()); err != nil {
			b.Fatal(err)
		}
		if r.Tests.when(InX) == nil {
			b.Errorf("%s", r)
		}
	}
	b.ReportMetric(float64(rows), "rows")
}
