package clear

import (
	"slices"

	"tvps/data/random"
)

// Split divides the images by seed into 60% for training, 10% for validation and 30% for
// testing, the paper's "random train-validation-test splits", in every class alike: of 3,000
// images of a class 1,800, 300 and 900. Each list of rows is ascending.
func (s *Set) Split(seed int64) (train, validation, test []int32) {
	for class, rows := range s.ByClass() {
		rng := random.New(seed, "clear", "split", class)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		first, second := len(rows)*6/10, len(rows)*7/10
		train = append(train, rows[:first]...)
		validation = append(validation, rows[first:second]...)
		test = append(test, rows[second:]...)
	}
	slices.Sort(train)
	slices.Sort(validation)
	slices.Sort(test)
	return train, validation, test
}
