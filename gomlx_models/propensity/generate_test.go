package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	"github.com/gomlx/gomlx/core/tensors"
)

// checkTriplets tests rows of Algorithm 1: a sample's own time is where z says, the other time
// is uniform over all others, and both values of z are equally likely.
func checkTriplets(t *testing.T, rows []Triplet, time []int32, times int) {
	t.Helper()
	others, heads := make([]float64, times*times), 0
	for _, r := range rows {
		own, other := time[r.Sample], r.T1
		switch r.Z {
		case 1:
			heads++
		case -1:
			own, other = r.T1, r.T2
		default:
			t.Fatalf("z is %v", r.Z)
		}
		if r.Z == 1 && r.T2 != own || own != time[r.Sample] || other == own || other < 0 || int(other) >= times {
			t.Fatalf("row %+v of a sample at time %d", r, time[r.Sample])
		}
		others[int(own)*times+int(other)]++
	}
	n := float64(len(rows))
	if z := (float64(heads) - n/2) / math.Sqrt(n/4); math.Abs(z) > 4 {
		t.Errorf("%d of %v rows have z = +1", heads, n)
	}
	for own := range times {
		row := others[own*times : (own+1)*times]
		total, chi := 0.0, 0.0
		for _, c := range row {
			total += c
		}
		want := total / float64(times-1)
		for other, c := range row {
			if other != own {
				chi += (c - want) * (c - want) / want
			}
		}
		// chi-square with times-2 degrees of freedom: mean times-2, variance twice that.
		if df := float64(times - 2); chi > df+5*math.Sqrt(2*df)+1e-9 {
			t.Errorf("time %d: the other times are not uniform: %v (chi-square %v with %v degrees)", own, row, chi, df)
		}
	}
}

// sampleTimes has unequal numbers of samples at each of the times.
func sampleTimes(times, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32((i * i) % times)
		if i < times {
			out[i] = int32(i)
		}
	}
	return out
}

func TestGenerateDataIsAlgorithm1(t *testing.T) {
	for _, times := range []int{2, 3, 7} {
		time := sampleTimes(times, 30000)
		rows := GenerateData(random.New(0, "triplets"), time, times)
		for j, r := range rows {
			if r.Sample != j {
				t.Fatalf("row %d is of sample %d", j, r.Sample)
			}
		}
		checkTriplets(t, rows, time, times)
		if !slices.Equal(rows, GenerateData(random.New(0, "triplets"), time, times)) {
			t.Error("the same seed gave other rows")
		}
		if slices.Equal(rows, GenerateData(random.New(1, "triplets"), time, times)) {
			t.Error("another seed gave the same rows")
		}
	}
}

func TestTripletsUseEverySampleOncePerEpoch(t *testing.T) {
	time := sampleTimes(4, 3000)
	next := triplets(random.New(0, "source"), time, 4)
	var rows []Triplet
	var orders [][]int
	for range 5 {
		var order []int
		for range time {
			r := next()
			rows, order = append(rows, r), append(order, r.Sample)
		}
		orders = append(orders, slices.Clone(order))
		slices.Sort(order)
		if len(slices.Compact(order)) != len(time) {
			t.Fatal("an epoch did not use every sample once")
		}
	}
	if slices.Equal(orders[0], orders[1]) {
		t.Error("two epochs have the same order")
	}
	checkTriplets(t, rows, time, 4)
}

func TestFeedLaysOutRows(t *testing.T) {
	at := 0
	next := func() Triplet {
		at++
		return Triplet{Sample: at % 2, T2: int32(at), T1: int32(-at), Z: float32(at) / 2}
	}
	s := Samples{Row: []int32{40, 41}, Label: []int32{5, 6}}
	out := feed(s, 3, 2, next)(0, 2) // two updates of a chunk of three
	for i, want := range [][]int32{
		{41, 40, 41, 40, 0, 0}, {6, 5, 6, 5, 0, 0}, {1, 2, 3, 4, 0, 0}, {-1, -2, -3, -4, 0, 0},
	} {
		if got := tensors.MustCopyFlatData[int32](out[i]); !slices.Equal(got, want) ||
			!slices.Equal(out[i].Shape().Dimensions, []int{3, 2}) {
			t.Errorf("feed %d is %v with shape %v, want %v", i, got, out[i].Shape(), want)
		}
	}
	demand.List(t, tensors.MustCopyFlatData[float32](out[4]), []float32{.5, 1, 1.5, 2, 0, 0}, "z")
}
