package tables

import (
	"context"
	"fmt"
	"math"
	"slices"
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
	*task
	first     []bool  // the label of each test row in the first half
	low, high float64 // a number: what the label is
	weights   [][]float64
}

// newContradiction returns nil if there is none, see checkLeast.
func newContradiction(t *task) *contradiction {
	parts := t.fourParts()
	per := checkRows
	for _, part := range parts {
		per = min(per, len(part))
	}
	low, high := t.twoLabels()
	if per < checkLeast || low < 0 {
		return nil
	}
	c := &contradiction{task: &task{stream: t.stream, step: t.step}}
	c.data.Dim, c.data.Classes = t.data.Dim, t.data.Classes
	for half := range 2 {
		for p, part := range parts { // p: bit 0 tells whether the first feature is large, bit 1 the second
			for k := range per {
				row, at := t.train[part[k*len(part)/per]], low
				if p>>half&1 == 1 {
					at = high
				}
				for range checkCopies {
					c.train, c.labels = append(c.train, row), append(c.labels, t.train[at])
					if t.data.Target != nil {
						c.data.Target = append(c.data.Target, t.data.Target[at])
					} else {
						c.data.Label = append(c.data.Label, t.data.Label[at])
					}
				}
				if half == 0 && (p == 1 || p == 2) {
					c.test, c.first = append(c.test, row), append(c.first, p == 1)
				}
			}
		}
	}
	if t.data.Target != nil {
		c.low, c.high = t.data.Target[low], t.data.Target[high]
	} else {
		c.low, c.high = float64(t.data.Label[low]), float64(t.data.Label[high])
	}
	for _, other := range []float64{unpreferred, 0} {
		for half := range 2 {
			weight := slices.Repeat([]float64{1}, len(c.train))
			n := len(weight) / 2
			for i := (1 - half) * n; i < (2-half)*n; i++ {
				weight[i] = other
			}
			c.weights = append(c.weights, weight)
		}
	}
	return c
}

// fourParts divides the rows of train, by places, by whether two features are large. The two are those of which the
// smallest part has the most rows.
func (t *task) fourParts() (best [4][]int) {
	const most = 60 // features that are tried
	var large [][]bool
	values := make([]float32, len(t.train))
	for j := range min(t.data.Dim, most) {
		for i := range values {
			values[i] = t.data.X[i*t.data.Dim+j]
		}
		sorted := slices.Sorted(slices.Values(values))
		cut := sorted[len(sorted)/2]
		if cut == sorted[0] { // a level that most rows do not have
			cut = math.Nextafter32(cut, sorted[len(sorted)-1])
		}
		column := make([]bool, len(values))
		for i, v := range values {
			column[i] = v >= cut
		}
		large = append(large, column)
	}
	smallest, pair := 0, [2]int{}
	for a := range large {
		for b := range a {
			var n [4]int
			for i := range values {
				n[partOf(large[a][i], large[b][i])]++
			}
			if least := slices.Min(n[:]); least > smallest {
				smallest, pair = least, [2]int{a, b}
			}
		}
	}
	if smallest > 0 {
		for i := range values {
			p := partOf(large[pair[0]][i], large[pair[1]][i])
			best[p] = append(best[p], i)
		}
	}
	return best
}

// partOf numbers the four parts.
func partOf(a, b bool) (p int) {
	if a {
		p = 1
	}
	if b {
		p += 2
	}
	return p
}

// twoLabels are places of train with different labels: the two most frequent classes, or a small and a large number;
// -1 if all labels are the same.
func (t *task) twoLabels() (low, high int) {
	order := make([]int, len(t.train))
	for i := range order {
		order[i] = i
	}
	if y := t.data.Target; y != nil {
		slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, y[a]-y[b])) })
		low, high = order[len(order)/10], order[len(order)-1-len(order)/10]
		if y[low] == y[high] {
			return -1, -1
		}
		return low, high
	}
	count, at := make([]int, t.data.Classes), make([]int, t.data.Classes)
	for i, y := range t.data.Label {
		count[y]++
		at[y] = i
	}
	classes := make([]int, len(count))
	for k := range classes {
		classes[k] = k
	}
	slices.SortStableFunc(classes, func(a, b int) int { return count[b] - count[a] })
	if len(classes) < 2 || count[classes[1]] == 0 {
		return -1, -1
	}
	return at[classes[0]], at[classes[1]]
}

// follows is the mean probability of the first half's label in a prediction of the test rows.
func (c *contradiction) follows(prediction []float64) float64 {
	sum, k := 0., c.outputs()
	for i, first := range c.first {
		p := 0.
		if c.data.Target != nil {
			p = min(1, max(0, (prediction[i]-c.low)/(c.high-c.low)))
		} else {
			p = prediction[i*k+int(c.high)]
		}
		if !first {
			p = 1 - p
		}
		sum += p / float64(len(c.first))
	}
	return sum
}

// checkWeights returns an error if a trainer does not learn with the weights.
func (p *BacktestJob) checkWeights(ctx context.Context, model trainer) error {
	first, err := p.task(p.steps[0])
	if err != nil {
		return err
	}
	c := newContradiction(first)
	if c == nil {
		return nil
	}
	predictions, err := model.predict(ctx, c.task, c.weights)
	if err != nil {
		return fmt.Errorf("in the check that the trainer learns with the weights: %w", err)
	}
	moved := c.follows(predictions[0]) - c.follows(predictions[1])
	possible := c.follows(predictions[2]) - c.follows(predictions[3])
	if possible < checkLearns || moved >= checkShare*possible {
		return nil
	}
	return fmt.Errorf("the model %q does not learn with the weights, or a part of it does not: weights of %d to 1 for one of "+
		"two contradicting halves of a small table move its predictions by %.2f, leaving the other half out moves them by "+
		"%.2f; pass the column %s to every part, such as each step of a scikit-learn pipeline, or draw rows in proportion "+
		"to it", p.Model, int(1/unpreferred), moved, possible, weightColumn)
}
