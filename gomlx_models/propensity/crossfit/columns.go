package crossfit

import (
	"cmp"
	"math"
	"slices"
)

// columnOrder returns the columns of x in their canonical order, which depends neither on the order in which rows and
// columns are given nor on units: initial values and hashes follow it. Columns are sorted by
//
//	key_j = sum_i r_i (z_ij + z_ij^2 / 2) / sqrt(n),
//
// where z is the standardised x and r_i a smooth function of the row's time and outcome. Where keys agree up to
// rounding, r_i also takes in the columns that are in order. Columns that then still agree are equal, up to their
// unit.
func columnOrder(d Table) []int {
	s := shapeOfRows(d, Positions(d.Dim), Positions(len(d.Time)))
	r := make([]float64, len(d.Time))
	first, last := slices.Min(d.Time), slices.Max(d.Time)
	for i, t := range d.Time {
		u := (t - first) / (last - first)
		r[i] = math.Cos(2+7*u) + .6*math.Cos(1+29*u)
		if d.Label != nil {
			r[i] += .5 * math.Cos(float64(d.Label[i]))
		}
		if d.Target != nil {
			r[i] += .4 * (d.Target[i] - s.TargetMean) / s.TargetScale
		}
	}
	order, group := Positions(d.Dim), make([]int, d.Dim) // group: of each column, its rank so far
	for round, groups := 0, 1; round < 3 && groups < d.Dim; round++ {
		if round > 0 {
			s.mixColumns(d, group, r)
		}
		key := s.columnKeys(d, r)
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(group[a], group[b]), cmp.Compare(key[a], key[b]))
		})
		next := slices.Clone(group)
		groups = 0
		for i, j := range order {
			if i > 0 && (group[j] != group[order[i-1]] || key[j]-key[order[i-1]] > 1e-5) {
				groups++
			}
			next[j] = groups
		}
		group, groups = next, groups+1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(group[a], group[b]), cmp.Compare(s.Mean[a], s.Mean[b]), cmp.Compare(s.Scale[a], s.Scale[b]))
	})
	return order
}

// Positions are 0..n-1.
func Positions(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// columnKeys are the keys of columnOrder.
func (s shape) columnKeys(d Table, r []float64) []float64 {
	key := make([]float64, d.Dim)
	for i, weight := range r {
		weight /= math.Sqrt(float64(len(r)))
		for j, v := range d.X[i*d.Dim : (i+1)*d.Dim] {
			z := float64((v - s.Mean[j]) / s.Scale[j])
			key[j] += weight * (z + z*z/2)
		}
	}
	return key
}

// mixColumns adds to r_i what the row's columns give, by their group.
func (s shape) mixColumns(d Table, group []int, r []float64) {
	for i := range r {
		for j, v := range d.X[i*d.Dim : (i+1)*d.Dim] {
			z := float64((v-s.Mean[j])/s.Scale[j]) - float64(group[j]%7)/4
			r[i] += z / (1 + z*z)
		}
	}
}
