package backtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Task is one test block: models learn from the rows of all blocks before it and predict its rows.
type Task struct {
	Step    int            // place of the test block's time
	Data    crossfit.Table // the rows of train, encoded
	Block   []int          // place of the time of each row of train
	Scale   []float64      // the rows of the past that each row of train stands for; nil: one
	Past    *Past          // the test blocks before it
	Backend compute.Backend
	Seed    int64

	stream  *tables.Stream
	train   []int
	labels  []int // rows whose label those of train have: mostly themselves
	test    []int
	encoder *table.Encoder // fitted on train alone
	testX   []float32      // the rows of test, encoded
	sample  []int          // rows of train, by place, that g is fitted on; nil: all
	age     []float64      // T minus the time of each row of train, where T is the last time before the test block
}

// mostPast is about the number of rows of the past that a built-in model and g learn from.
const mostPast = 20000

// newTask returns the task of a test block. If sampled, its training rows are about mostPast of those of the past.
func newTask(s *tables.Stream, step int, sampled bool, seed int64) (*Task, error) {
	t := &Task{Step: step, Seed: seed, stream: s, train: s.Times.Rows(0, step), test: s.Times.Rows(step, step+1)}
	if len(t.train) > mostPast {
		t.sample, t.Scale = samplePast(s, t.train, random.New(seed, "sample of the past", step))
		if sampled {
			for i, at := range t.sample {
				t.train[i], t.Scale[i] = t.train[at], t.Scale[at]
			}
			t.train, t.Scale, t.sample = t.train[:len(t.sample)], t.Scale[:len(t.sample)], nil
		} else {
			t.Scale = nil
		}
	}
	t.labels = t.train
	var err error
	if t.Data, t.encoder, err = s.Data(t.train); err != nil {
		return nil, err
	}
	if t.testX, err = t.encoder.Encode(s.Table, t.test); err != nil {
		return nil, err
	}
	for _, row := range t.train {
		at := int(s.Times.Index[row])
		t.Block, t.age = append(t.Block, at), append(t.age, s.Times.Values[step-1]-s.Times.Values[at])
	}
	return t, nil
}

// samplePast draws about mostPast of rows, by place, ascending. It takes all of the newest ones and each older one with
// a probability inversely proportional to its rank from the newest, so that each window of time has as many as another.
// scale is, for all rows, the inverse of the probability. The oldest row is always taken.
func samplePast(s *tables.Stream, rows []int, rng *rand.Rand) (places []int, scale []float64) {
	n := float64(len(rows))
	whole := float64(mostPast) // rows that are taken for certain: whole (1 + log(n / whole)) = mostPast
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

// outputs is the number of values in a prediction: the classes, or 1 for a number.
func (t *Task) outputs() int { return max(1, t.Data.Classes) }

// Equal are equal weights of the rows of the past, for those of train.
func (t *Task) Equal() []float64 {
	if t.Scale != nil {
		return slices.Clone(t.Scale)
	}
	return slices.Repeat([]float64{1}, len(t.Block))
}

// outcomes is the weighted distribution of the outcome in the rows of train: the share of each class, with one more row
// of each, or the mean of a number.
func (t *Task) outcomes(weight []float64) []float64 {
	if t.Data.Target != nil {
		return []float64{floats.Dot(weight, t.Data.Target) / floats.Sum(weight)}
	}
	out := slices.Repeat([]float64{1}, t.Data.Classes)
	for i, w := range weight {
		out[t.Data.Label[i]] += w
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// label is the number or the class of a row of train.
func (t *Task) label(place int) float64 {
	if t.Data.Target != nil {
		return t.Data.Target[place]
	}
	return float64(t.Data.Label[place])
}

// Single tells whether all rows with weight have the same outcome, from which no model can learn.
func (t *Task) Single(weight []float64) bool {
	first := slices.IndexFunc(weight, func(w float64) bool { return w > 0 })
	for i, w := range weight {
		if w > 0 && t.label(i) != t.label(first) {
			return false
		}
	}
	return true
}

// has tells whether a row with weight has the class.
func (t *Task) has(class int, weight []float64) bool {
	for i, w := range weight {
		if w > 0 && int(t.Data.Label[i]) == class {
			return true
		}
	}
	return false
}

// same predicts the same values for all test rows: [rows, outputs].
func (t *Task) same(values []float64) []float64 {
	return slices.Repeat(values, len(t.test))
}

// scoring is a mean over test rows. of: prediction and outcome of one row, a number or a class.
type scoring struct {
	name string
	of   func(p []float64, y float64) float64
}

// unlikely is the least probability that counts in the log loss.
const unlikely = 1e-6

// The measures of classes and of numbers; the first one chooses and compares.
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

// brier is the sum over classes of the squared error of the probability; half of it for two classes, as Brier's score
// of an event.
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

// accuracy is 1 if the most probable class is right; of several as probable ones, each counts its share.
func accuracy(p []float64, y float64) float64 {
	if right := p[int(y)]; right == floats.Max(p) {
		return 1 / float64(floats.Count(func(v float64) bool { return v == right }, p))
	}
	return 0
}

// measures are those of the stream's label.
func measures(s *tables.Stream) []scoring {
	if s.Label.Target != nil {
		return numberMeasures
	}
	return classMeasures
}

// slope is the derivative of the first measure's mean by the share of a member in a mixed prediction. It takes a
// probability that counts as unlikely as that.
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

// score is the mean of each measure over the test rows. prediction: [rows, outputs].
func (t *Task) score(prediction []float64) []float64 {
	return tables.Collect(measures(t.stream), func(m scoring) float64 { return stat.Mean(t.each(m, prediction), nil) })
}

// rows are the scores of a prediction, by the name of what predicts.
func (t *Task) rows(name string, prediction []float64) (rows []runs.Row) {
	for m, v := range t.score(prediction) {
		rows = append(rows, runs.Row{T: t.Step, Metric: metric(measures(t.stream)[m].name, name), Value: v})
	}
	return rows
}

// Losses has the measure that compares of each test row. prediction: [rows, outputs].
func (t *Task) Losses(prediction []float64) []float64 {
	return t.each(measures(t.stream)[0], prediction)
}

// each is a measure of each test row.
func (t *Task) each(m scoring, prediction []float64) []float64 {
	out, k := make([]float64, len(t.test)), t.outputs()
	for i, row := range t.test {
		out[i] = m.of(prediction[i*k:(i+1)*k], t.stream.Label.Value(row))
	}
	return out
}

// sampled are the rows that g is fitted on.
func (t *Task) sampled() crossfit.Table {
	if t.sample == nil {
		return t.Data
	}
	return t.Data.Rows(t.sample)
}
