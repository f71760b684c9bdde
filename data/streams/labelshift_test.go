package streams

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// Distributions computed by hand, most from the paper's equation; see TestPriorEqualsListing.
func TestPriorByHand(t *testing.T) {
	tests := []struct {
		name  string
		shift LabelShift
		t     int
		want  []float64
	}{
		{"b", CIFAR10b, 0, []float64{.55, .05, .05, .05, .05, .05, .05, .05, .05, .05}},
		{"b", CIFAR10b, 1, []float64{.45, .15, .05, .05, .05, .05, .05, .05, .05, .05}},
		{"b wraps", CIFAR10b, 56, []float64{.25, .05, .05, .05, .05, .05, .05, .05, .05, .35}},
		{"equation", equation(6), 0, []float64{7. / 15, 2. / 15, .05, .05, .05, .05, .05, .05, .05, .05}},
		{"equation", equation(6), 5, []float64{.05, .55, .05, .05, .05, .05, .05, .05, .05, .05}},
		{"equation", equation(6), 6, []float64{.05, 7. / 15, 2. / 15, .05, .05, .05, .05, .05, .05, .05}},
		{"none", NoShift, 77, []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}},
	}
	for _, test := range tests {
		demand.Floats(t, fmt.Sprintf("%s: q_%d", test.name, test.t), test.shift.Prior(test.t), test.want, 1e-12)
	}
}

func equation(interval int) LabelShift {
	return LabelShift{Classes: 10, Interval: interval, Reading: Equation}
}

// listing is the paper's Python code, element by element, independent of the package.
func listing(T int, q1, q2 []float64) (out [][]float64) {
	lamb := 1.0 / (float64(T) - 1)
	for t := 0.0; t < float64(T); t++ {
		var row []float64
		for i := range q1 {
			left := q1[i] * (1 - lamb*t)
			right := q2[i] * lamb * t
			row = append(row, left+right)
		}
		out = append(out, row)
	}
	return out
}

// majority returns q^i: .05 for each class except i, which has the rest.
func majority(classes, i int) []float64 {
	q := slices.Repeat([]float64{.05}, classes)
	q[i] = 1 - .05*float64(classes-1)
	return q
}

// The stream is the listing applied to one pair after another.
func TestPriorEqualsListing(t *testing.T) {
	const steps = 300
	for _, s := range []LabelShift{CIFAR10a, CIFAR10b, CIFAR10c, {Classes: 4, Interval: 5, Reading: Listing}} {
		var want [][]float64
		for pair := 0; len(want) <= steps; pair++ {
			i := pair % s.Classes
			want = append(want, listing(s.Interval, majority(s.Classes, i), majority(s.Classes, (i+1)%s.Classes))...)
		}
		for step := range steps {
			q := s.Prior(step)
			demand.Floats(t, fmt.Sprintf("T = %d: q_%d", s.Interval, step), q, want[step], 1e-12)
			sum := 0.0
			for _, p := range q {
				sum += p
			}
			demand.Floats(t, "sum", []float64{sum}, []float64{1}, 1e-12)
		}
	}
}

// pool gives class y the rows 100 y to 100 y + y + 2.
func pool() [][]int32 {
	byClass := make([][]int32, 10)
	for y := range byClass {
		for i := range y + 3 {
			byClass[y] = append(byClass[y], int32(100*y+i))
		}
	}
	return byClass
}

func TestDrawFrequencies(t *testing.T) {
	const n = 60000
	s, byClass := CIFAR10b, pool()
	for _, step := range []int{0, 2, 56, 120} {
		rows, labels := s.Draw(5, "train", step, n, byClass)
		count := map[int32]float64{}
		perClass := make([]float64, 10)
		for i, row := range rows {
			if labels[i] != row/100 || !slices.Contains(byClass[labels[i]], row) {
				t.Fatalf("row %d has label %d", row, labels[i])
			}
			count[row]++
			perClass[labels[i]]++
		}
		for y, q := range s.Prior(step) {
			// 4.5 standard deviations
			if d := math.Abs(perClass[y]/n - q); d > 4.5*math.Sqrt(q*(1-q)/n) {
				t.Errorf("step %d: class %d has frequency %.4f, want %.4f", step, y, perClass[y]/n, q)
			}
			for _, row := range byClass[y] {
				p := q / float64(len(byClass[y]))
				if d := math.Abs(count[row]/n - p); d > 4.5*math.Sqrt(p*(1-p)/n) {
					t.Errorf("step %d: image %d has frequency %.4f, want %.4f", step, row, count[row]/n, p)
				}
			}
		}
	}
}

func TestDrawLabels(t *testing.T) {
	s := NoShift // so that only the random numbers differ
	ownSamples(t, func(seed int64, part string, step int) ([]int32, []int32) {
		return s.Draw(seed, part, step, 200, pool())
	})
	rows, _ := CIFAR10a.Draw(0, "train", 0, 5, pool())
	want := []int32{1, 2, 2, 301, 2}
	demand.List(t, rows, want, "the first rows, on which every figure depends")
}

func TestLogRatioOfLabels(t *testing.T) {
	for _, test := range []struct {
		y, T, t int
		want    float64
	}{
		{0, 0, 5, math.Log(.55 / .05)}, {0, 5, 0, math.Log(.05 / .55)}, {1, 5, 2, math.Log(.55 / .25)},
		{7, 5, 0, 0}, {3, 20, 20, 0}, {0, 59, 1, math.Log(.55 / .45)},
	} {
		demand.Floats(t, "log ratio", []float64{CIFAR10b.LogRatio(test.y, test.T, test.t)}, []float64{test.want}, 1e-12)
	}
}

func TestStride(t *testing.T) {
	for _, test := range []struct{ stride, interval, coprime int }{
		{1, 9, 1}, {3, 9, 4}, {9, 9, 10}, {6, 9, 7}, {5, 9, 5}, {2, 6, 5}, {5, 6, 5}, {4, 30, 7},
	} {
		got := coprimeStride(test.stride, test.interval)
		demand.Equal(t, got, test.coprime, "coprimeStride(%d, %d)", test.stride, test.interval)
		if err := CheckStride(test.stride, test.interval); (err == nil) != (test.stride == test.coprime) {
			t.Errorf("CheckStride(%d, %d): %v", test.stride, test.interval, err)
		}
	}
	demand.Error(t, CheckStride(5, 0), "an interval of 0; both must be at least 1")
}
