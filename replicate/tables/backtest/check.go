package backtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
)

// A user's own trainer may drop the weights in a part of its model, as scikit-learn's calibration does of a pipeline:
// all rules would then have nearly the same loss. So, before any block, it learns from a small table in which half of
// the rows contradict the other half. One half's label tells whether one feature is large, the other half's whether
// another feature is; features are those of the first training rows. Weights of 1 to a thousand prefer the one half,
// then the other. Predictions of rows on which the halves disagree must follow the preferred half about as much as if
// the other half were left out. A last layer that is calibrated with the weights cannot do that: it is monotone in a
// score that treats both features alike.
//
// The check sees nothing where the trainer does not learn such a rule at all, and where no two features divide the rows
// in four parts.
const (
	checkRows   = 15   // different rows of each of the four parts
	checkCopies = 8    // of each in each half
	checkLeast  = 6    // different rows without which there is no check
	unpreferred = 1e-3 // weight of the other half
	checkLearns = .2   // mean probability by which predictions must move without the other half
	checkShare  = .2   // of it, by which they must move with its small weights
)

// contradiction is the small table. Its training rows are the preferred half and the other one.
type contradiction struct {
	*Task
	first     []bool  // the label of each test row in the first half
	low, high float64 // the two labels: numbers, or classes
	weights   [][]float64
}

// newContradiction returns nil if there is none, see checkLeast.
func newContradiction(t *Task) *contradiction {
	parts := t.fourParts()
	per := min(checkRows, smallest(parts))
	low, high := t.twoLabels()
	c := &contradiction{Task: &Task{stream: t.stream, Step: t.Step, Known: t.Known}, low: t.Data.Y(low), high: t.Data.Y(high)}
	if per < checkLeast || c.low == c.high {
		return nil
	}
	var labels []int // positions
	for half := range 2 {
		for p, part := range parts { // p: bit 0 tells whether the first feature is large, bit 1 the second
			for k := range per {
				row, at := t.train[part[k*len(part)/per]], low
				if p>>half&1 == 1 {
					at = high
				}
				for range checkCopies {
					c.train, c.labelRows, labels = append(c.train, row), append(c.labelRows, t.train[at]), append(labels, at)
				}
				if half == 0 && (p == 1 || p == 2) {
					c.test, c.first = append(c.test, row), append(c.first, p == 1)
				}
			}
		}
	}
	c.Data = t.Data.Rows(labels) // of which only the labels are used
	n := len(c.train) / 2
	for _, other := range []float64{unpreferred, 0} {
		preferred, others := slices.Repeat([]float64{1}, n), slices.Repeat([]float64{other}, n)
		c.weights = append(c.weights, slices.Concat(preferred, others), slices.Concat(others, preferred))
	}
	return c
}

// fourParts divides rows of train, by places, by whether two features are large. The two are those of which the
// smallest part has the most rows.
func (t *Task) fourParts() (best [4][]int) {
	const mostFeatures, mostTried = 60, 2000 // features and rows that are tried
	rows := tables.Thin(xslices.Iota(0, len(t.train)), mostTried)
	var large [][]int // of each feature, 1 for the rows in which it is
	for j := range min(t.Data.Dim, mostFeatures) {
		values := xslices.Map(rows, func(row int) float32 { return t.Data.X[row*t.Data.Dim+j] })
		sorted := slices.Sorted(slices.Values(values))
		cut := sorted[len(sorted)/2]
		if cut == sorted[0] { // a level that most rows do not have
			cut = math.Nextafter32(cut, sorted[len(sorted)-1])
		}
		large = append(large, make([]int, len(rows)))
		for i, v := range values {
			if v >= cut {
				large[j][i] = 1
			}
		}
		for _, other := range large[:j] {
			var parts [4][]int
			for i, row := range rows {
				p := large[j][i] + 2*other[i]
				parts[p] = append(parts[p], row)
			}
			if smallest(parts) > smallest(best) {
				best = parts
			}
		}
	}
	return best
}

// smallest is the number of rows of the smallest part.
func smallest(parts [4][]int) int {
	return min(len(parts[0]), len(parts[1]), len(parts[2]), len(parts[3]))
}

// twoLabels are places of train with different labels, if there are any: a small and a large one.
func (t *Task) twoLabels() (low, high int) {
	order := xslices.Iota(0, len(t.train))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.Data.Y(a), t.Data.Y(b)) })
	few := len(order) / 10
	if low, high = order[few], order[len(order)-1-few]; t.Data.Y(low) == t.Data.Y(high) {
		return order[0], order[len(order)-1]
	}
	return low, high
}

// follows is the mean probability of the first half's label in a prediction of the test rows.
func (c *contradiction) follows(prediction []float64) (sum float64) {
	for i, first := range c.first {
		p := 0.
		if c.Data.Target != nil {
			p = min(1, max(0, (prediction[i]-c.low)/(c.high-c.low)))
		} else {
			p = prediction[i*c.outputs()+int(c.high)]
		}
		if !first {
			p = 1 - p
		}
		sum += p / float64(len(c.first))
	}
	return sum
}

// checkWeights returns an error if a trainer does not learn with the weights, and a note if that cannot be seen.
func (p *Job) checkWeights(ctx context.Context, model trainer) (note string, err error) {
	const unseen = "whether the trainer learns with the weights was not checked: "
	last, err := p.task(p.steps[len(p.steps)-1], 0)
	if err != nil {
		return "", err
	}
	c := newContradiction(last)
	if c == nil {
		return unseen + "no two features divide the rows well enough, or the label has one value", nil
	}
	predictions, err := model.predict(ctx, c.Task, c.weights)
	if err != nil {
		return "", fmt.Errorf("in the check that the trainer learns with the weights: %w", err)
	}
	moved := c.follows(predictions[0]) - c.follows(predictions[1])
	possible := c.follows(predictions[2]) - c.follows(predictions[3])
	if possible < checkLearns {
		return unseen + "it does not learn the small table that the check makes", nil
	}
	if moved >= checkShare*possible {
		doubtful := func(p float64) bool { return p != 0 && p != 1 }
		if c.Data.Target == nil && !slices.ContainsFunc(slices.Concat(predictions[:2]...), doubtful) {
			return "the trainer is certain of every row of a table that contradicts itself: if it writes classes, let it write " +
				"their probabilities (predict_proba in scikit-learn)", nil
		}
		return "", nil
	}
	return "", fmt.Errorf("the model %q does not learn with the weights, or a part of it does not: weights of %d to 1 for one of "+
		"two contradicting halves of a small table move its predictions by %.2f, leaving the other half out moves them by "+
		"%.2f; pass the column %s to every part, such as each step of a scikit-learn pipeline, or draw rows in proportion "+
		"to it", p.Model, int(1/unpreferred), moved, possible, weightColumn)
}
