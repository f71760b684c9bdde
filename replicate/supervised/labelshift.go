package supervised

import (
	"slices"

	"tvps/data/random"
	"tvps/data/streams"
)

// shifted returns a stream whose samples are drawn by the label distribution q_t, with replacement, from the training
// rows of each class, and those of validation in the same way. It is tested on the rows of test, weighted by q_t, or on
// rows of all test images drawn by q_t (setting evaluate).
func shifted(s Settings, shift streams.LabelShift, seed int64, train, validation, test, all [][]int32) *Stream {
	draw := func(part string, t, n int, from [][]int32) Samples {
		rows, labels := shift.Draw(seed, part, t, n, from)
		return Samples{Row: rows, Label: labels}
	}
	stream := &Stream{
		Classes:  shift.Classes,
		Train:    func(t int) Samples { return draw("train", t, s.N, train) },
		Test:     func(t int) Samples { return weighted(test, shift.Prior(t)) },
		Fresh:    func(t int) Samples { return draw("fresh", t, s.N, all) },
		LogRatio: func(_, label int32, T, t int) float64 { return shift.LogRatio(int(label), T, t) },
	}
	if !slices.ContainsFunc(validation, func(rows []int32) bool { return len(rows) == 0 }) {
		stream.Validation = func(t int) Samples { return draw("validation", t, validationN, validation) }
	}
	if s.Evaluate == "draw" {
		n := s.TestN
		if n == 0 {
			n = len(slices.Concat(all...))
		}
		stream.Test = func(t int) Samples { return draw("test", t, n, all) }
	}
	return stream
}

// byClass groups rows by their label.
func byClass(rows, labels []int32, classes int) [][]int32 {
	out := make([][]int32, classes)
	for _, row := range rows {
		out[labels[row]] = append(out[labels[row]], row)
	}
	return out
}

// firstShuffled shuffles each class by seed and returns its first rows: n in all, equally many of each class. It
// changes byClass. With n = 0 it returns byClass as it is.
func firstShuffled(byClass [][]int32, n int, seed int64) [][]int32 {
	for class, rows := range byClass {
		if n > 0 && n/len(byClass) < len(rows) {
			swap := func(i, j int) { rows[i], rows[j] = rows[j], rows[i] }
			random.New(seed, "test-images", class).Shuffle(len(rows), swap)
			byClass[class] = rows[:max(1, n/len(byClass))]
		}
	}
	return byClass
}

// weighted makes the rows a sample of the label distribution prior. Each row of a class weighs prior(class) divided
// by the rows of the class, so that the weighted accuracy is the expectation over draws from q_t.
func weighted(byClass [][]int32, prior []float64) Samples {
	var out Samples
	for class, rows := range byClass {
		for _, row := range rows {
			out.Row = append(out.Row, row)
			out.Label = append(out.Label, int32(class))
			out.Weight = append(out.Weight, prior[class]/float64(len(rows)))
		}
	}
	return out
}
