package backtest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Task is one test block. Models learn from the rows of all earlier blocks and predict the rows of this one. With a
// gap, the blocks just before it are left out. With entities there is a Task for each fold of them, and models learn
// from the other entities. Below, a row is an index into the stream's table, a position an index into train.
type Task struct {
	Step  int             // the test block, as a position in the stream's list of times
	Known int             // the number of blocks up to the last one that is learned from: Step, except with a gap
	Data  crossfit.Table  // the training rows, encoded
	Block []int           // of each training row: the position of its time in that list
	Scale []float64       // of each training row: how many rows of the past it represents; nil: one each
	Past  *Past           // the earlier test blocks
	Cycle *crossfit.Cycle // by which g sees the time; nil: by none
	Seed  int64

	stream    *tables.Stream
	train     []int          // training rows
	labelRows []int          // of each training row: the row whose label it has; another's only to test a trainer
	test      []int          // test rows
	encoder   *table.Encoder // fitted on train alone
	testX     []float32      // the test rows, encoded
	ofG       []int          // the sample of positions that g is fitted on; nil: all
	age       []float64      // of each training row: the last time that is learned from, minus the row's time
}

// mostPast is about how many rows of the past g and a built-in model learn from.
const mostPast = 20000

// newTask returns the task of models that learn from the rows of train, and predict those of test in a block. A past of
// more than mostPast rows is sampled for g, and with thin also for the models: train then has the sampled rows alone.
func newTask(s *tables.Stream, step int, train, test []int, thin bool, seed int64) (*Task, error) {
	t := &Task{Step: step, Seed: seed, stream: s, train: train, test: test}
	for _, row := range train {
		t.Known = max(t.Known, int(s.Times.Index[row])+1)
	}
	if len(t.train) > mostPast {
		t.ofG, t.Scale = samplePast(s, t.train, random.New(seed, "sample of the past", step))
		if thin {
			for i, at := range t.ofG {
				t.train[i], t.Scale[i] = t.train[at], t.Scale[at]
			}
			t.train, t.Scale, t.ofG = t.train[:len(t.ofG)], t.Scale[:len(t.ofG)], nil
		} else {
			t.Scale = nil
		}
	}
	t.labelRows = t.train
	var err error
	if t.Data, t.encoder, err = s.Data(t.train); err != nil {
		return nil, err
	}
	if t.testX, err = t.encoder.Encode(s.Table, t.test); err != nil {
		return nil, err
	}
	for _, row := range t.train {
		at := int(s.Times.Index[row])
		t.Block, t.age = append(t.Block, at), append(t.age, s.Times.Values[t.Known-1]-s.Times.Values[at])
	}
	return t, nil
}

// samplePast draws about mostPast of the rows and returns their positions, ascending. The newest rows are all taken. An
// older one is taken with a probability that is inversely proportional to its rank, counted from the newest row. So as
// many rows have ranks from 2r to 4r as from r to 2r. The oldest row is always taken. scale has the inverse of each
// row's probability.
func samplePast(s *tables.Stream, rows []int, rng *rand.Rand) (places []int, scale []float64) {
	n := float64(len(rows))
	whole := float64(mostPast) // number of rows that are all taken: whole (1 + log(n / whole)) = mostPast
	for range 50 {
		whole = mostPast / (1 + math.Log(n/whole))
	}
	order := slices.Clone(rows)
	s.Sort(order)
	scale = make([]float64, len(rows))
	for i, row := range order {
		at, _ := slices.BinarySearch(rows, row)
		scale[at] = max(1, (n-float64(i))/whole)
		if i == 0 || rng.Float64()*scale[at] < 1 {
			places = append(places, at)
		}
	}
	slices.Sort(places)
	return places, scale
}

// outputs is the number of values in the prediction of a row: a probability for each class, or one number.
func (t *Task) outputs() int { return max(1, t.Data.Classes) }

// Equal returns weights of the training rows that give each row of the past the same weight.
func (t *Task) Equal() []float64 {
	if t.Scale != nil {
		return slices.Clone(t.Scale)
	}
	return slices.Repeat([]float64{1}, len(t.Block))
}

// labelDistribution is the weighted distribution of the labels of the training rows: the share of each class, counting
// one more row of each next to as many rows as the weights are worth, or the mean of a number.
func (t *Task) labelDistribution(weight []float64) []float64 {
	if t.Data.Target != nil {
		return []float64{floats.Dot(weight, t.Data.Target) / floats.Sum(weight)}
	}
	out := slices.Repeat([]float64{1}, t.Data.Classes)
	row := propensity.EffectiveSampleSize(weight) / floats.Sum(weight)
	for i, w := range weight {
		out[t.Data.Label[i]] += w * row
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// single tells whether all training rows of positive weight have the same label, from which no model can learn.
func (t *Task) single(weight []float64) bool {
	first := slices.IndexFunc(weight, func(w float64) bool { return w > 0 })
	for i, w := range weight {
		if w > 0 && t.Data.Y(i) != t.Data.Y(first) {
			return false
		}
	}
	return true
}

// hasClass tells whether a training row of positive weight has the class.
func (t *Task) hasClass(class int, weight []float64) bool {
	for i, w := range weight {
		if w > 0 && int(t.Data.Label[i]) == class {
			return true
		}
	}
	return false
}

// constant is the prediction that has the same values for every test row, with the shape [rows, outputs].
func (t *Task) constant(values []float64) []float64 {
	return slices.Repeat(values, len(t.test))
}

// scoring is a measure of a prediction, averaged over the test rows. Its function of scores one row, given the values
// predicted for it and its label.
type scoring struct {
	name string
	of   func(p []float64, y float64) float64
}

// unlikely is the lower bound of probabilities in the log loss, which is infinite at 0.
const unlikely = 1e-6

// The measures for labels that are classes, and for numbers. Rules are tuned and compared by the first one.
var (
	classMeasures = []scoring{
		{"log-loss", func(p []float64, y float64) float64 { return -math.Log(max(p[int(y)], unlikely)) }},
		{"brier", brier},
		{"accuracy", accuracy},
	}
	numberMeasures = []scoring{
		{"squared-error", func(p []float64, y float64) float64 { return (p[0] - y) * (p[0] - y) }},
		{"absolute-error", func(p []float64, y float64) float64 { return math.Abs(p[0] - y) }},
	}
)

// brier is the squared error of the probabilities, summed over the classes. For two classes it is half of that, which
// is Brier's score of the second class.
func brier(p []float64, y float64) float64 {
	sum := 0.
	for k, v := range p {
		if k == int(y) {
			v--
		}
		sum += v * v
	}
	if len(p) == 2 {
		return sum / 2
	}
	return sum
}

// accuracy is 1 if the most probable class is right. If n classes are equally probable, and one is right, it is 1/n.
func accuracy(p []float64, y float64) float64 {
	if right := p[int(y)]; right == floats.Max(p) {
		return 1 / float64(floats.Count(func(v float64) bool { return v == right }, p))
	}
	return 0
}

// measures lists the measures for the stream's kind of label.
func measures(s *tables.Stream) []scoring {
	if s.Label.Target != nil {
		return numberMeasures
	}
	return classMeasures
}

// slope is the derivative of the mean of the first measure with respect to the share of a member in a mixed prediction.
// Probabilities below unlikely count as unlikely, as in the log loss.
func (t *Task) slope(mixture, member []float64) float64 {
	sum, k := 0., t.outputs()
	for i, row := range t.test {
		if y := t.stream.Label.Value(row); t.stream.Label.Target != nil {
			sum += 2 * (mixture[i] - y) * member[i]
		} else {
			at := i*k + int(y)
			sum -= member[at] / max(mixture[at], unlikely)
		}
	}
	return sum / float64(len(t.test))
}

// rows are the means of the measures over the test rows, for a prediction of the shape [rows, outputs]. name is what
// predicts, such as a weighting.
func (t *Task) rows(name string, prediction []float64) []runs.Row {
	return xslices.Map(measures(t.stream), func(m scoring) runs.Row {
		return runs.Row{T: t.Step, Metric: metric(m.name, name), Value: stat.Mean(t.each(m, prediction), nil)}
	})
}

// Losses is the first measure of each test row, for a prediction of the shape [rows, outputs].
func (t *Task) Losses(prediction []float64) []float64 {
	return t.each(measures(t.stream)[0], prediction)
}

// each is one measure of each test row.
func (t *Task) each(m scoring, prediction []float64) []float64 {
	out, k := make([]float64, len(t.test)), t.outputs()
	for i, row := range t.test {
		out[i] = m.of(prediction[i*k:(i+1)*k], t.stream.Label.Value(row))
	}
	return out
}

// FitG fits g on the past, and returns it with the time of the test block.
func (t *Task) FitG(ctx context.Context, c crossfit.Config) (g *crossfit.Fitted, now float64, err error) {
	g, err = crossfit.Fit(ctx, t.dataOfG(), c, t.Seed)
	return g, t.stream.Times.Values[t.Step], err
}

// dataOfG is the data that g is fitted on.
func (t *Task) dataOfG() crossfit.Table {
	if t.ofG == nil {
		return t.Data
	}
	return t.Data.Rows(t.ofG)
}
