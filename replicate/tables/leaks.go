package tables

import (
	"fmt"
	"math"

	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/data/table"
	"tvps/gomlx_models/loop"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// clock is the rank correlation with time above which a feature is taken for a clock, such as a row number or the year:
// with it no row of the past resembles the present. leak is that with the label (2 AUC - 1 of a class, or the
// correlation whose square is .98 of a number) above which a feature is taken for the label by another name.
const clock, leak, leakOfNumber = .95, .96, .99

// leakCells bounds the values that are looked at, and leakRows the rows.
const leakRows, leakCells = 20000, 20 << 20

// leaks says which features tell the time, and which tell the label, by themselves: in short, and as notes. Given such
// a feature the label does not drift. rows: in time order.
func (s *Stream) leaks(rows []int) (found, notes []string, err error) {
	rows = Thin(rows, max(1000, min(leakRows, leakCells/len(s.Features))))
	time := xslices.Iota(0.0, len(rows))
	var clocks, labels []string
	for _, name := range s.Features {
		c, err := s.feature(name, rows)
		if err != nil {
			return nil, nil, err
		}
		if c.follows(time) > clock {
			clocks = append(clocks, name)
		}
		switch {
		case s.Label == nil:
		case s.tells(c, rows):
			labels = append(labels, name)
		case s.missingTells(c, rows):
			labels = append(labels, name+" (by its missing values)")
		}
	}
	hides := ""
	if s.Label != nil {
		hides = ", which hides how y given x drifts"
	}
	say := func(list []string, verb, what, left string) {
		if len(list) == 1 {
			verb += "s"
		}
		if len(list) > 0 {
			text := fmt.Sprintf("%s %s the %s", Few(list, 5), verb, what)
			found, notes = append(found, text), append(notes, text+" almost exactly"+hides+": leave out with --drop what "+left)
		}
	}
	say(clocks, "follow", "time", "no model may learn from")
	say(labels, "tell", "label", "is known only after the label")
	return found, notes, nil
}

// Bounds of the note on entities: rows that are looked at, the last ones, and their least number of times.
const entityRows, leastEntityTimes = 20000, 10

// entities lists the features that may name entities, such as shops: whole numbers or levels that are there at most
// times, each in one row. rows: in time order.
func (s *Stream) entities(rows []int) (names []string, err error) {
	if s.Source.Time == "" || s.Group != nil {
		return nil, nil
	}
	rows = rows[max(0, len(rows)-entityRows):]
	times, err := s.Table.Select(rows).Times(s.Source.Time, table.Bin{})
	if err != nil || len(times.Values) < leastEntityTimes || len(rows) < 2*len(times.Values) {
		return nil, nil // all rows may have one time
	}
	for _, name := range s.Features {
		f, err := s.feature(name, rows)
		if err != nil {
			return nil, err
		}
		if f.isEntity(times.Index, len(times.Values)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// passing counts the rows of entities that are there at one time only, and in less than a tenth of the times: the tests
// shuffle the rows of each entity by themselves, so they do not see drift from one entity to the next.
func (s *Stream) passing(rows []int) (once, brief int) {
	type stretch struct{ first, last, rows int }
	of, times := map[int32]stretch{}, 0
	for _, row := range rows {
		at, entity := int(s.Times.Index[row]), s.Group[row]
		e, ok := of[entity]
		if !ok {
			e.first = at
		}
		of[entity] = stretch{min(e.first, at), max(e.last, at), e.rows + 1}
		times = max(times, at+1)
	}
	for _, e := range of {
		if e.first == e.last {
			once += e.rows
		}
		if 10*(e.last-e.first) < times {
			brief += e.rows
		}
	}
	return once, brief
}

// isEntity says whether at least nine rows in ten are the only ones of their value at their time, and a value is there
// at half of the times or more, on average. time: of each row, of so many.
func (f feature) isEntity(time []int32, times int) bool {
	type cell struct {
		time  int32
		value float64
	}
	values, cells, n := map[float64]bool{}, map[cell]bool{}, len(time)
	for i, at := range time {
		v := f.value[i]
		if values[v] = true; v != math.Trunc(v) || len(values)*times > 2*n { // also NaN
			return false
		}
		cells[cell{at, v}] = true
	}
	return len(values) > 1 && 10*len(cells) >= 9*n
}

// tells tells whether a feature determines the label of the rows, or of most of them by their classes.
func (s *Stream) tells(c feature, rows []int) bool {
	if s.Label.Target != nil {
		return c.follows(loop.Pick(s.Label.Target, rows)) > leakOfNumber
	}
	names := len(s.Label.Names)
	if names == 2 {
		names = 1 // the other one is told by the same values
	}
	told, asked := 0, 0
	for k := range names {
		is := make([]float64, len(rows))
		for i, row := range rows {
			if int(s.Label.Class[row]) == k {
				is[i] = 1
			}
		}
		n := int(floats.Sum(is))
		if names > 1 && 20*n < len(rows) {
			continue // of a thousand classes only the large ones are looked at
		}
		asked += n
		if n > 1 && n < len(rows)-1 && c.separates(is) > leak {
			told += n
		}
	}
	return 2*told > asked
}

// missingTells tells whether the label follows from where a feature is missing, as it does if the feature is filled in
// after the outcome. A few rows of a number may be extreme by chance, so that one in twenty is missing, and one is not.
func (s *Stream) missingTells(c feature, rows []int) bool {
	missing := floats.Count(math.IsNaN, c.value)
	if missing == 0 || s.Label.Target != nil && 20*min(missing, len(rows)-missing) < len(rows) {
		return false
	}
	return s.tells(feature{value: xslices.Map(c.value, func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return 1
	})}, rows)
}

// feature is a column's values: numbers, or the places of levels; NaN is missing.
type feature struct {
	value   []float64
	isLevel bool
}

func (s *Stream) feature(name string, rows []int) (feature, error) {
	values, levels, err := s.Table.Numbers(name, rows)
	return feature{values, levels != nil}, err
}

// pairs are the values that are not missing, as numbers, with those of y. A level's number is the mean of y in half of
// its rows, drawn at random; the other ones are compared.
func (f feature) pairs(y []float64) (x, of []float64) {
	sum, count := map[float64]float64{}, map[float64]float64{}
	learned, rng := make([]bool, len(y)), random.New(0, "leaks")
	for i, v := range f.value {
		if learned[i] = rng.IntN(2) == 0; learned[i] {
			sum[v] += y[i]
			count[v]++
		}
	}
	for i, v := range f.value {
		switch {
		case math.IsNaN(v):
		case !f.isLevel:
			x, of = append(x, v), append(of, y[i])
		case !learned[i] && count[v] > 0:
			x, of = append(x, sum[v]/count[v]), append(of, y[i])
		}
	}
	return x, of
}

// follows is the absolute rank correlation of the feature with y, relative to the largest that its ties allow; for two
// values it is |2 AUC - 1|.
func (f feature) follows(y []float64) float64 { return slope(f.pairs(y)) }

// separates is |2 AUC - 1| of the feature for a class of indicator y.
func (f feature) separates(y []float64) float64 {
	x, of := f.pairs(y)
	return slope(of, x)
}

// slope is the absolute slope of the ranks of y on those of x.
func slope(x, y []float64) float64 {
	if len(x) < 30 {
		return 0
	}
	x, _ = statistics.MeanRanks(x)
	y, _ = statistics.MeanRanks(y)
	if variance := stat.Variance(x, nil); variance > 0 {
		return math.Abs(stat.Covariance(x, y, nil)) / variance
	}
	return 0
}
