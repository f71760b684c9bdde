package clear

import (
	"slices"
	"testing"

	"tvps/ci/demand"
)

// setOf returns a set without features, with n images per class in each of ten buckets.
func setOf(n int) *Set {
	s := &Set{Classes: make([]string, Classes)}
	for range Buckets {
		for class := range int32(Classes) {
			for range n {
				s.Label = append(s.Label, class)
			}
		}
	}
	return s
}

// The three parts have 1,800, 300 and 900 of the published 3,000 images of a class, and every
// row is in exactly one part.
func TestSplit(t *testing.T) {
	s := setOf(300)
	for seed := range int64(3) {
		train, validation, test := s.Split(seed)
		all := slices.Concat(train, validation, test)
		slices.Sort(all)
		for i, row := range all {
			if len(all) != s.Len() || int(row) != i {
				t.Fatalf("row %d of the sorted parts is %d, of %d", i, row, len(all))
			}
		}
		for name, part := range map[string]struct {
			rows []int32
			want int
		}{"train": {train, 1800}, "validation": {validation, 300}, "test": {test, 900}} {
			var counts [Classes]int
			for _, row := range part.rows {
				counts[s.Label[row]]++
			}
			for class, n := range counts {
				demand.Equal(t, n, part.want, "seed %d: images of class %d in %s", seed, class, name)
			}
			if !slices.IsSorted(part.rows) {
				t.Errorf("%s does not ascend", name)
			}
		}
	}
}

// A split depends on the seed alone, and every class has its own order.
func TestSplitBySeed(t *testing.T) {
	s := setOf(300)
	_, first, _ := s.Split(0)
	_, other, _ := s.Split(1)
	if slices.Equal(first, other) {
		t.Error("two seeds have the same split")
	}
	demand.List(t, first[:5], []int32{0, 3, 45, 67, 82}, "the first validation rows of seed 0")
	chosen := make([][]int, Classes) // the validation rows of each class, by their number in the class
	for class, rows := range s.ByClass() {
		for i, row := range rows {
			if _, found := slices.BinarySearch(first, row); found {
				chosen[class] = append(chosen[class], i)
			}
		}
		if class > 0 && slices.Equal(chosen[class], chosen[class-1]) {
			t.Errorf("class %d has its validation images at the same positions as another class", class)
		}
	}
}
