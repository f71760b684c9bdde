package crossfit

import (
	"cmp"
	"math"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/support/xslices"
)

// shapeOf returns the shape of rows, and the normal scores of x with its columns in canonical order.
func shapeOf(d Table) (shape, []float32) {
	s := shape{Dim: d.Dim, Classes: d.Classes, Columns: xslices.Iota(0, d.Dim), Ordered: d.Order != nil,
		Knots: propensity.ColumnScores(d.X, d.Dim)}
	if d.Target != nil {
		k := propensity.NormalScores(slices.Clone(d.Target), 1e-12)
		s.Target = &k
	}
	z := s.scored(d)
	s.Columns = columnOrder(d, s, z)
	s.Knots = loop.Pick(s.Knots, s.Columns)
	for row := range slices.Chunk(z, d.Dim) {
		copy(row, loop.Pick(row, s.Columns))
	}
	return s, z
}

// columnOrder returns the columns of x in their canonical order, which depends neither on the order in which rows and
// columns are given nor on units: initial values and hashes follow it. Columns are sorted by
//
//	key_j = sum_i r_i (z_ij + z_ij^2 / 2) / sqrt(n),
//
// where z are the normal scores of x and r_i a smooth function of the row's time and outcome. Where keys agree up to
// rounding, r_i also takes in the columns that are in order. Columns that then still agree are equal, up to an
// increasing function. s and z: with the columns as they are given.
func columnOrder(d Table, s shape, z []float32) []int {
	r := make([]float64, len(d.Time))
	first, last := slices.Min(d.Time), slices.Max(d.Time)
	for i, t := range d.Time {
		u := (t - first) / (last - first)
		r[i] = math.Cos(2+7*u) + .6*math.Cos(1+29*u)
		if d.Label != nil {
			r[i] += .5 * math.Cos(float64(d.Label[i]))
		}
		if d.Target != nil {
			r[i] += .4 * s.Target.Of(d.Target[i])
		}
	}
	order, group := xslices.Iota(0, d.Dim), make([]int, d.Dim) // group: of each column, its rank so far
	for round, groups := 0, 1; round < 3 && groups < d.Dim; round++ {
		if round > 0 {
			mixColumns(z, group, r)
		}
		key := columnKeys(z, r)
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
		return cmp.Or(cmp.Compare(group[a], group[b]), slices.Compare(s.Knots[a].Value, s.Knots[b].Value))
	})
	return order
}

// columnKeys are the keys of columnOrder. z: [n * columns].
func columnKeys(z []float32, r []float64) []float64 {
	key := make([]float64, len(z)/len(r))
	for i, weight := range r {
		weight /= math.Sqrt(float64(len(r)))
		for j, v := range z[i*len(key) : (i+1)*len(key)] {
			v := float64(v)
			key[j] += weight * (v + v*v/2)
		}
	}
	return key
}

// mixColumns adds to r_i what the row's columns give, by their group.
func mixColumns(z []float32, group []int, r []float64) {
	for i := range r {
		for j, v := range z[i*len(group) : (i+1)*len(group)] {
			v := float64(v) - float64(group[j]%7)/4
			r[i] += v / (1 + v*v)
		}
	}
}
