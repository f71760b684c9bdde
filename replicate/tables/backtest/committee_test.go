package backtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// TestAdaHedge: the shares of two models, of which one always has a slope that is less by 1, have a closed form for two
// blocks; they depend neither on the scale of the slopes nor on what all have alike; the regret keeps to the bound.
func TestAdaHedge(t *testing.T) {
	play := func(losses ...[]float64) []float64 {
		h := hedge{total: make([]float64, len(losses[0]))}
		for _, l := range losses {
			h.learn(l)
		}
		return h.shares()
	}
	same := func(what string, got []float64, want ...float64) {
		t.Helper()
		if !floats.EqualApprox(got, want, 1e-12) {
			t.Errorf("%s: shares %v, want %v", what, got, want)
		}
	}
	same("before any block", (&hedge{total: make([]float64, 2)}).shares(), .5, .5)
	same("after one block", play([]float64{0, 1}), .8, .2) // gap 1/2, eta 2 ln 2
	eta := math.Ln2 / (.5 + .2 + math.Log(.85)/(2*math.Ln2))
	want := 1 / (1 + math.Exp(-2*eta))
	same("after two blocks", play([]float64{0, 1}, []float64{0, 1}), want, 1-want)
	same("scaled and shifted", play([]float64{7, 7.01}, []float64{-3, -2.99}), want, 1-want)
	same("no difference", play([]float64{1, 1}, []float64{2, 2}), .5, .5)
	for seed := range int64(200) {
		rng := random.New(seed, "regret")
		k, rounds := 2+rng.IntN(12), 1+rng.IntN(80)
		scale := math.Exp(3 * rng.NormFloat64())
		h := hedge{total: make([]float64, k)}
		own, variance, spread := 0., 0., 0.
		for range rounds {
			loss := make([]float64, k)
			for i := range loss {
				switch seed % 3 {
				case 0:
					loss[i] = scale * rng.Float64()
				case 1: // the leader loses
					loss[i] = scale * h.shares()[i]
				default:
					loss[i] = scale * math.Pow(rng.ExpFloat64(), 3) * float64(i)
				}
			}
			shares := h.shares()
			mean := floats.Dot(shares, loss)
			own += mean
			for i, s := range shares {
				variance += s * (loss[i] - mean) * (loss[i] - mean)
			}
			spread = max(spread, floats.Max(loss)-floats.Min(loss))
			h.learn(loss)
		}
		log := math.Log(float64(k))
		if regret, bound := own-floats.Min(h.total), 2*math.Sqrt(variance*log)+spread*(4./3*log+2); regret > bound+1e-12*own {
			t.Errorf("seed %d: the regret of %d models in %d blocks is %v, the bound %v", seed, k, rounds, regret, bound)
		}
	}
}

// shares is a trainer whose models predict the weighted share of each class, or the mean.
type shares struct{}

func (shares) predict(_ context.Context, t *Task, weights [][]float64) (out [][]float64, _ error) {
	for _, w := range weights {
		out = append(out, t.constant(t.labelDistribution(w)))
	}
	return out, nil
}
func (shares) identity() string { return "shares" }
func (shares) close()           {}

// meanLoss is the mean of the first measure over the test rows.
func meanLoss(k *Task, prediction []float64) float64 { return stat.Mean(k.Losses(prediction), nil) }

// TestCommittee: the losses of a committee and of bagged models are those of the mean predictions, with shares and
// tuned weights that are computed here again from the predictions.
func TestCommittee(t *testing.T) {
	q := logisticOn(turning(t, 16))
	q.Rules, q.More = []string{Committee, "bagged", both, "newest"}, newest
	p, err := Prepare(q)
	demand.NoError(t, err)
	h := host(t, t.TempDir())
	job, err := p.job(shares{})
	demand.NoError(t, err)
	report, err := runs.Execute(context.Background(), h.Store, []runs.Job{job}, runs.Options{Workers: 1})
	demand.NoError(t, errors.Join(err, report.Err()))
	got := map[string][]float64{}
	for _, r := range report.Results[job.Spec.ID()].Rows {
		got[r.Metric] = append(got[r.Metric], r.Value)
	}
	members := p.rules[slices.IndexFunc(p.rules, func(r Rule) bool { return r.Name == Committee })].Weightings
	total := make([]float64, len(members)) // of slopes
	tuned := make([]float64, len(members)) // total of those of forgetting
	gap := 0.
	for i, step := range p.steps {
		k, err := p.task(step, 0)
		demand.NoError(t, err)
		best := floats.Min(total)
		sum, mean, mix := 0., 0., 0.
		prediction := []float64{0, 0}
		share, slope := make([]float64, len(members)), make([]float64, len(members))
		for m := range members {
			if share[m] = math.Exp(-math.Log(float64(len(members))) * (total[m] - best) / gap); gap == 0 {
				share[m] = 1
			}
			sum += share[m]
		}
		for m, w := range members {
			share[m] /= sum
			floats.AddScaled(prediction, share[m], k.labelDistribution(k.weights(w, nil)))
		}
		now := meanLoss(k, k.constant(prediction))
		if math.Abs(got["log-loss: committee"][i]-now) > 1e-7 {
			t.Errorf("block %d: the committee's loss is %v, want %v", step, got["log-loss: committee"][i], now)
		}
		if loss := got["log-loss: "+both][i]; math.Abs(loss-now) > .03 {
			t.Errorf("block %d: the loss of the bagged committee is %v, that of the committee %v", step, loss, now)
		}
		for m, w := range members { // by differences
			const h = 1e-6
			more, less := slices.Clone(prediction), slices.Clone(prediction)
			floats.AddScaled(more, h, k.labelDistribution(k.weights(w, nil)))
			floats.AddScaled(less, -h, k.labelDistribution(k.weights(w, nil)))
			slope[m] = (meanLoss(k, k.constant(more)) - meanLoss(k, k.constant(less))) / (2 * h) * float64(len(k.test))
		}
		for m := range members {
			mean += share[m] * slope[m]
			mix += share[m] * math.Exp(-math.Log(float64(len(members)))*(slope[m]-slope[0])/gap)
		}
		last := meanLoss(k, k.constant(k.labelDistribution(k.weights(Weighting{Window: 1}, nil))))
		if own, recorded := got["log-loss: newest"][i], got["loss of the newest"][i]; math.Abs(own-last) > 1e-9 || recorded != float64(i) {
			t.Errorf("block %d: a rule that was added has the loss %v, want %v; it knows %v blocks", step, own, last, recorded)
		}
		chosen := len(members) - 1 // equal, before anything is known
		for m, w := range members {
			if w.Window == 0 && i > 0 && tuned[m] < tuned[chosen] {
				chosen = m
			}
		}
		want := meanLoss(k, k.constant(k.labelDistribution(k.weights(members[chosen], nil))))
		if math.Abs(got["log-loss: bagged"][i]-want) > .02 {
			t.Errorf("block %d: the loss of bagged models is %v, that of one with all rows %v", step, got["log-loss: bagged"][i], want)
		}
		if gap == 0 {
			gap = mean - floats.Min(slope)
		} else {
			gap += mean - slope[0] + gap/math.Log(float64(len(members)))*math.Log(mix)
		}
		floats.Add(total, slope)
		for m, w := range members {
			tuned[m] += meanLoss(k, k.constant(k.labelDistribution(k.weights(w, nil)))) * float64(len(k.test))
		}
	}
}

// newest adds a rule that trains on the newest block, and records how many test blocks it knows.
func newest(builtIn []Rule) []Rule {
	return append(builtIn, Rule{Name: "newest", Weightings: []Weighting{{}}, Extra: true,
		Train: func(_ context.Context, t *Task) ([][]float64, error) {
			out := t.Equal()
			for i := range out {
				if t.Block[i] < t.Step-1 {
					out[i] = 0
				}
			}
			return [][]float64{out}, nil
		},
		Record: func(t *Task, _ func(Weighting) []float64) []runs.Row {
			return []runs.Row{{T: t.Step, Metric: "loss of the newest", Value: float64(len(t.Past.Blocks))}}
		}})
}

// TestMembers: the members are listed with the shares that they have after the last block.
func TestMembers(t *testing.T) {
	r := Rule{Name: "c", Weightings: []Weighting{{HalfLife: 2}, {Window: 4}, {}}, mixes: true}
	p := &Past{}
	p.add([]runs.Row{{Metric: slopeOf(r.Name, r.Weightings[0]), Value: -1}, {Metric: slopeOf(r.Name, r.Weightings[1]), Value: -3},
		{Metric: slopeOf(r.Name, r.Weightings[2]), Value: -2}}, 1)
	got := r.members(p) // gap 1, eta ln 3
	want := []Member{{"last 4", 0, 4, 9. / 13}, {"uniform", 0, 0, 3. / 13}, {"half-life 2", 2, 0, 1. / 13}}
	for i := range want {
		if math.Abs(got[i].Share-want[i].Share) > 1e-12 {
			t.Errorf("member %v, want %v", got[i], want[i])
		}
		got[i].Share = want[i].Share
	}
	rules := []RuleResult{{Members: got}}
	line := (&Result{Rules: rules}).Table(rules)[1]
	if text := line[len(line)-1]; !slices.Equal(got, want) || text != "69% last 4, 23% uniform" {
		t.Errorf("members %v, want %v, shown as %q", got, want, text)
	}
}

// TestAdviseCommittee: the first line says to train a committee, with the line of Python, if its loss is lower than
// that of the best weights, and lower than that of equal weights by the interval or by more than a slight gain.
func TestAdviseCommittee(t *testing.T) {
	sure, maybe := Difference{-.02, -.03, -.01}, Difference{-.02, -.05, .01}
	for _, c := range []struct {
		loss, uniform float64
		committee     Difference
		bin, gap      string
		want          string
	}{
		{.5, .7, sure, "week", "10 days", `(in Python tvps.Committee(model, bin="week", gap="10 days")): log loss 0.500, 0.0200 ` +
			`lower than with equal weights (95% interval 0.0100 to 0.0300). Weights alone: use the last 4 weeks only ` +
			`(--kind none --window 4), though the gain is not certain: `},
		{.5, .7, maybe, "none", "", "(in Python tvps.Committee(model)), though the gain is not certain: log loss 0.500, " +
			"0.0200 lower than with equal weights (95% interval -0.0100 to 0.0500). Weights alone: use the last 4 blocks only"},
		{.61, .7, sure, "week", "", ""},      // the window is better
		{.599, .6005, maybe, "week", "", ""}, // a slight gain
		{.599, .6005, sure, "week", "", "Weights alone: use all of the past alike"},
	} {
		r := &Result{Metric: "log-loss", unit: "weeks", Rules: []RuleResult{scored(Uniform, c.uniform), scored(Window, .6),
			scored(Committee, c.loss)}}
		if r.Bin, r.Gap = c.bin, c.gap; c.bin == "none" {
			r.unit = "units of time"
		}
		r.Rules[1].Window, r.Rules[1].AgainstUniform, r.Rules[2].AgainstUniform = 4, maybe, c.committee
		got := r.judge()
		if got.Committee != (c.want != "") || !strings.Contains(got.Sentence, c.want) ||
			got.Committee != strings.HasPrefix(got.Sentence, "Train several models") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	if (&Result{Metric: "log-loss", Rules: []RuleResult{scored(Uniform, .5)}}).judge().Committee {
		t.Error("a committee that was not tested is better")
	}
}

// TestBagged: a bootstrap sample repeats rows so often that their number is that of all rows, and leaves out 1/e of
// them; a row without weight stays without.
func TestBagged(t *testing.T) {
	const n = 4000
	k := &Task{Step: 4, Known: 4, train: make([]int, n), Block: make([]int, n), age: make([]float64, n)}
	for i := range n {
		k.Block[i] = i * 4 / n
	}
	k.Past = &Past{}
	lists, err := bagged("bagged", oneScale([]Weighting{{Window: 2}}, 3))(t.Context(), k)
	if err != nil || len(lists) != 3 || slices.Equal(lists[0], lists[1]) || slices.Equal(lists[1], lists[2]) {
		t.Fatalf("%d models, error %v", len(lists), err)
	}
	for i := range k.Block[:n-1] { // the last block has one row, which all samples have
		k.Block[i] = 0
	}
	lone, err := bagged("bagged", oneScale([]Weighting{{Window: 1}}, 3))(t.Context(), k)
	for _, w := range lone {
		if err != nil || w[n-1] == 0 {
			t.Errorf("a sample of a window of one row has no row, error %v", err)
		}
	}
	for _, w := range lists {
		none, drawn, unit := 0., 0., slices.Min(slices.DeleteFunc(slices.Clone(w), func(v float64) bool { return v == 0 }))
		for i, v := range w {
			if i < n/2 && v != 0 || math.Abs(v/unit-math.Round(v/unit)) > 1e-9 {
				t.Fatalf("row %d has weight %v, with a unit of %v", i, v, unit)
			}
			drawn += v / unit
			if i >= n/2 && v == 0 {
				none++
			}
		}
		if share := none / (n / 2); math.Abs(share-math.Exp(-1)) > .04 || math.Abs(drawn-n/2) > 150 {
			t.Errorf("%v of the rows are left out, %v drawn", share, drawn)
		}
	}
}

// TestByShare: each member is taken about as often as its share says; before any block all are taken alike.
func TestByShare(t *testing.T) {
	members := []Weighting{{Window: 2}, {Window: 4}, {Window: 8}, {HalfLife: 1}, {}}
	past := &Past{}
	demand.List(t, byShare(both, members)(past), members, "with equal shares")
	block := map[string]float64{}
	for _, w := range members {
		block[slopeOf(both, w)] = 10
	}
	block[slopeOf(both, members[1])], block[slopeOf(both, members[3])] = 0, 0
	past.Blocks, past.Rows = append(past.Blocks, block), append(past.Rows, 7)
	// shares .031, .453, .031, .453, .031; models at .1, .3, .5, .7, .9 of their sum
	want := []Weighting{members[1], members[1], members[2], members[3], members[3]}
	demand.List(t, byShare(both, members)(past), want, "models by share")
}

// TestPart: a rule gives the part of omega that stands for it in its own weightings, and in no other.
func TestPart(t *testing.T) {
	tuned := []Weighting{{Kind: crossfit.Joint, Part: "half", HalfLife: 1}, {Kind: crossfit.Joint, Part: "half"}}
	half := func(_ *Task, omega []float64) []float64 { return []float64{omega[0] / 2, omega[1]} }
	c := &computation{Job: &Job{rules: []Rule{{Weightings: []Weighting{{Kind: crossfit.Joint}}},
		{Weightings: tuned, Factor: half}}}}
	for w, want := range map[Weighting]float64{tuned[0]: .2, tuned[1]: .2, {Kind: crossfit.Joint}: .4} {
		demand.List(t, c.part(nil, w, []float64{.4, .6}), []float64{want, .6}, "%s: omega", w)
	}
}

// TestSlope: of a number's squared error, by differences.
func TestSlope(t *testing.T) {
	k := newTestTask(t, number(t), 8)
	rng := random.New(1, "slope")
	mixture, member := make([]float64, len(k.test)), make([]float64, len(k.test))
	for i := range mixture {
		mixture[i], member[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	at := func(h float64) float64 {
		moved := slices.Clone(mixture)
		floats.AddScaled(moved, h, member)
		return meanLoss(k, moved)
	}
	if got, want := k.slope(mixture, member), (at(1)-at(-1))/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("slope %v, want %v", got, want)
	}
}
