package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/propensity/crossfit"
)

// benchRows is the number of rows of the benchmarks: TVPS_TABLE_ROWS, for instance 1000000, or 20,000.
func benchRows(b *testing.B) int {
	if text := os.Getenv("TVPS_TABLE_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 200 {
			b.Fatalf("TVPS_TABLE_ROWS is %q", text)
		}
		return n
	}
	return 20_000
}

// benchFile writes a table of 50 columns and 100 days: the day, a class whose rule turns round, and 48 numbers, of
// which the first drifts. TVPS_TABLE_FILE names the file to use, if it exists, or to keep.
func benchFile(b *testing.B, rows int) string {
	b.Helper()
	path := os.Getenv("TVPS_TABLE_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "table.parquet")
	} else if _, err := os.Stat(path); err == nil {
		return path
	}
	rng := random.New(1, "own-bench")
	day, label := make([]time.Time, rows), make([]bool, rows)
	numbers := make([][]float64, 48)
	for c := range numbers {
		numbers[c] = make([]float64, rows)
	}
	for i := range rows {
		day[i] = time.Unix(int64(i*100/rows)*86400, 0).UTC()
		for c := range numbers {
			numbers[c][i] = rng.NormFloat64()
		}
		u := float64(i) / float64(rows)
		numbers[0][i] += u
		label[i] = (numbers[1][i]*(1-2*u) + rng.NormFloat64()) > 0
	}
	columns := []table.Column{{Name: "day", Values: day}, {Name: "y", Values: label}}
	for c, v := range numbers {
		columns = append(columns, table.Column{Name: fmt.Sprint("n", c), Values: v})
	}
	demand.NoError(b, table.Write(path, columns...))
	return path
}

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
	engine := backendtest.Open(b, "")
	path := benchFile(b, benchRows(b))
	runtime.GC()
	for _, kind := range crossfit.Kinds() {
		b.Run(string(kind), func(b *testing.B) {
			var cpu, wall time.Duration
			unit := reference()
			for b.Loop() {
				begin := time.Now()
				before, _ := rusage(b)
				p, err := PrepareWeights(WeightsRequest{Weights: crossfit.WeightOptions{Kind: kind},
					Request: Request{Source: Source{File: path, Time: "day", Label: "y"}, Fit: crossfit.DefaultConfig()}})
				demand.NoError(b, err)
				r, err := p.Weigh(b.Context(), engine.Backend, nil)
				demand.NoError(b, err)
				demand.NoError(b, r.WriteWeights(filepath.Join(b.TempDir(), "weights.parquet")))
				r.Close()
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
