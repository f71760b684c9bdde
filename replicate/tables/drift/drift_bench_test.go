package drift

import (
	"context"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/tablestest"
)

// BenchmarkMeasure measures the file of BenchmarkWeigh.
func BenchmarkMeasure(b *testing.B) {
	rows := tablestest.BenchRows(b)
	q := tables.Request{Fit: crossfit.DefaultConfig(), Source: tables.Source{File: tablestest.BenchFile(b, rows), Time: "day", Label: "y"}}
	shown := ""
	begin := time.Now()
	progress := func(share float64, next string) {
		if next != shown {
			b.Logf("%s after %s", next, time.Since(begin).Round(time.Second/10))
		}
		shown = next
	}
	for b.Loop() {
		p, err := Prepare(q)
		demand.NoError(b, err)
		r, err := p.Measure(context.Background(), progress)
		demand.NoError(b, err)
		demand.NoError(b, r.WritePage(b.TempDir()))
		if r.Tests.when(tables.InX) == nil {
			b.Errorf("%s", r)
		}
	}
	b.ReportMetric(float64(rows), "rows")
}
