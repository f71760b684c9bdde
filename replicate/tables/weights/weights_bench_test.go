package weights

import (
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/tablestest"
)

// reference is the time of a fixed computation on one core, to compare machines and loads: 2^28 steps of a xorshift.
func reference() time.Duration {
	begin, h := time.Now(), uint64(1)
	for range 1 << 28 {
		h ^= h << 13
		h ^= h >> 7
		h ^= h << 17
	}
	runtime.KeepAlive(h)
	return time.Since(begin)
}

// usage is the processor time of the process so far, and its largest resident memory in MiB.
func rusage(b *testing.B) (cpu time.Duration, peak float64) {
	var u syscall.Rusage
	demand.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / 1024
}

// BenchmarkWeigh reads a Parquet file of 50 columns, fits g with the default settings and writes the weights, of each
// kind. refs/op is the time in units of reference, measured before and after.
func BenchmarkWeigh(b *testing.B) {
	path := tablestest.BenchFile(b, tablestest.BenchRows(b))
	runtime.GC()
	for _, kind := range crossfit.Kinds() {
		b.Run(string(kind), func(b *testing.B) {
			var cpu, wall time.Duration
			unit := reference()
			for b.Loop() {
				begin := time.Now()
				before, _ := rusage(b)
				p, err := Prepare(Request{Weights: crossfit.WeightOptions{Kind: kind},
					Request: tables.Request{Source: tables.Source{File: path, Time: "day", Label: "y"}, Fit: crossfit.DefaultConfig()}})
				demand.NoError(b, err)
				r, err := p.Weigh(b.Context(), nil)
				demand.NoError(b, err)
				demand.NoError(b, r.WriteWeights(filepath.Join(b.TempDir(), "weights.parquet")))
				after, _ := rusage(b)
				cpu, wall = cpu+after-before, wall+time.Since(begin)
			}
			unit = (unit + reference()) / 2
			_, peak := rusage(b)
			n := float64(b.N)
			b.ReportMetric(cpu.Seconds()/n, "cpu-s/op")
			b.ReportMetric(wall.Seconds()/n/unit.Seconds(), "refs/op")
			b.ReportMetric(peak, "peak-MiB")
		})
	}
}
