package examples

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/data/table"
)

var update = flag.Bool("update", false, "write the tables")

// TestTable: the committed tables are what the program makes, byte for byte.
func TestTable(t *testing.T) {
	for name, write := range map[string]func(path string) error{
		"drifting.csv":  func(path string) error { return Write(path, Orders(Seed, Rows)) },
		"fee.csv":       func(path string) error { return table.Write(path, Fee(Seed, 0, FeeWeeks)...) },
		"fee-later.csv": func(path string) error { return table.Write(path, Fee(Seed, FeeWeeks, FeeWeeks+FeeLater)...) },
	} {
		made := filepath.Join(t.TempDir(), name)
		if *update {
			made = name
		}
		demand.NoError(t, write(made))
		want := demand.Read(t, made)
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what `go test ./data/table/examples -update` writes (%v)", name, err)
		}
	}
}

// TestFee: with the fee far fewer orders from the web are returned, and as many as ever of other channels; after it all
// is as before.
func TestFee(t *testing.T) {
	share := func(web bool, from, to int) float64 {
		n, yes := 0., 0.
		for seed := range int64(20) {
			columns := Fee(seed, from, to)
			for i, channel := range columns[2].Values.([]string) {
				if (channel == "web") == web {
					n++
					if columns[5].Values.([]string)[i] == "yes" {
						yes++
					}
				}
			}
		}
		return yes / n
	}
	for _, web := range []bool{true, false} {
		before, fee, after := share(web, 0, 25), share(web, 35, 55), share(web, 65, FeeWeeks+FeeLater)
		if math.Abs(after-before) > .02 || web && before-fee < .3 || !web && math.Abs(before-fee) > .02 {
			t.Errorf("web %t: %.3f of the orders are returned before the fee, %.3f with it, %.3f after it", web, before, fee, after)
		}
	}
}

// TestTruth: with the exact omega, the orders of each period have the moments of the last week: the mean of omega is 1,
// and so are the ratios of the means of log price, of the label and of their product to those of the last week.
func TestTruth(t *testing.T) {
	const T, n = Weeks - 1, 600_000
	orders := Orders(1, n)
	moments := func(from, to int, log func(Order) float64) (m [4]float64) {
		count := 0.
		for _, o := range orders {
			if o.week() < from || o.week() >= to {
				continue
			}
			w, y := math.Exp(log(o)), 0.
			if o.Returned {
				y = 1
			}
			for j, v := range []float64{1, math.Log(o.Price), y, y * math.Log(o.Price)} {
				m[j] += w * v
			}
			count++
		}
		for j := range m {
			m[j] /= count
		}
		return m
	}
	last := moments(T, Weeks, func(Order) float64 { return 0 })
	for _, period := range [][2]int{{0, 18}, {18, 22}, {22, 38}, {38, 42}, {42, Weeks}} {
		got := moments(period[0], period[1], func(o Order) float64 { return o.Joint(T) })
		for j, v := range got {
			if math.Abs(v/last[j]-1) > .03 {
				t.Errorf("weeks %v: weighted moment %d is %.4f, that of the last week %.4f", period, j, v, last[j])
			}
		}
		got = moments(period[0], period[1], func(o Order) float64 { return o.Covariate(T) })
		for j, v := range got[:2] {
			if math.Abs(v/last[j]-1) > .02 {
				t.Errorf("weeks %v: moment %d of x is %.4f, that of the last week %.4f", period, j, v, last[j])
			}
		}
	}
	if first, middle := moments(0, 10, zero), moments(25, 35, zero); math.Abs(last[2]-middle[2]) < .1 ||
		math.Abs(last[1]-first[1]) < .5 {
		t.Errorf("nothing drifts: moments %.3f, %.3f, %.3f", first, middle, last)
	}
}

func zero(Order) float64 { return 0 }
