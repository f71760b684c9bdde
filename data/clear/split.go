package clear

import (
	"math/rand/v2"
	"slices"

	"tvps/data/random"
)

// Split divides the rows of every class at random into 60% for training, 10% for validation
// and 30% for testing, the paper's "random train-validation-test splits": 1,800, 300 and 900
// of 3,000 images. Each list of rows ascends.
func (s *Set) Split(seed int64) (train, validation, test []int32) {
	train, validation, test = SplitClasses(s.ByClass(), func(class int) *rand.Rand {
		return random.New(seed, "clear", "split", class)
	})
	slices.Sort(train)
	slices.Sort(validation)
	slices.Sort(test)
	return train, validation, test
}

// SplitClasses divides the rows of every class into 60%, 10% and 30% after a shuffle with
// the class's random numbers. It shuffles byClass in place.
func SplitClasses(byClass [][]int32, order func(class int) *rand.Rand) (train, validation, test []int32) {
	for class, rows := range byClass {
		order(class).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		first, second := len(rows)*6/10, len(rows)*7/10
		train = append(train, rows[:first]...)
		validation = append(validation, rows[first:second]...)
		test = append(test, rows[second:]...)
	}
	return train, validation, test
}
