package notebook

import (
	"fmt"
	"maps"
	"slices"
)

// Measurement is one number of a panel.
type Measurement struct {
	Series string // such as "ours"
	Seed   int64
	T      int // time step
	Value  float64
}

// Measurements are the numbers of one panel.
type Measurements []Measurement

// Steps lists the steps of the measurements.
func (m Measurements) Steps() []int {
	var steps []int
	for _, r := range m {
		steps = append(steps, r.T)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// Mean is the mean of a series over its seeds, each of which is averaged over the steps from first to last. It ends
// the cell if there is no such measurement.
func (m Measurements) Mean(series string, first, last int) float64 {
	return mean(m.bySeed(series, first, last))
}

// Difference is the mean of series minus that of base.
func (m Measurements) Difference(series, base string, first, last int) float64 {
	return m.Mean(series, first, last) - m.Mean(base, first, last)
}

// SeedMeans are the means of a series over all steps, one for each seed, by ascending seed.
func (m Measurements) SeedMeans(series string) []float64 {
	return m.bySeed(series, 0, m.Steps()[len(m.Steps())-1])
}

func (m Measurements) bySeed(series string, first, last int) []float64 {
	values := map[int64][]float64{}
	for _, r := range m {
		if r.Series == series && r.T >= first && r.T <= last {
			values[r.Seed] = append(values[r.Seed], r.Value)
		}
	}
	if len(values) == 0 {
		Exit(fmt.Errorf("no measurement of %q between the steps %d and %d", series, first, last))
	}
	var means []float64
	for _, seed := range slices.Sorted(maps.Keys(values)) {
		means = append(means, mean(values[seed]))
	}
	return means
}

// Above is the share of seeds and steps at which series is above base.
func (m Measurements) Above(series, base string) float64 {
	of := map[[2]int64]float64{} // by seed and step
	for _, r := range m {
		if r.Series == base {
			of[[2]int64{r.Seed, int64(r.T)}] = r.Value
		}
	}
	above, all := 0.0, 0.0
	for _, r := range m {
		if b, ok := of[[2]int64{r.Seed, int64(r.T)}]; ok && r.Series == series {
			all++
			if r.Value > b {
				above++
			}
		}
	}
	if all == 0 {
		Exit(fmt.Errorf("%q and %q have no seed and step in common", series, base))
	}
	return above / all
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
