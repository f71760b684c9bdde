package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"
	"tvps/replicate/usage"
)

func host(t *testing.T, dir string) Host {
	t.Helper()
	store, err := runs.Open(dir)
	demand.NoError(t, err)
	return Host{Store: store, Workers: 2}
}

// logisticOn asks for a back test of logistic regressions with the weights of some kinds, by a g of seconds.
func logisticOn(source tables.Source, kinds ...crossfit.Kind) Request {
	return Request{Request: tables.Request{Source: source, Fit: crossfit.ForTest(60)}, Model: "logistic",
		Kinds: append([]crossfit.Kind{}, kinds...)}
}

// runOn prepares and runs.
func runOn(ctx context.Context, h Host, q Request) (*Result, error) {
	p, err := Prepare(q)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, h)
}

func run(t *testing.T, dir string, q Request) *Result {
	t.Helper()
	r, err := runOn(context.Background(), host(t, dir), q)
	demand.NoError(t, err)
	return r
}

// TestRun: where the rule turns round, recent rows are worth more; the scores of models that need no training are
// computed again here; a second run takes all from the store.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	q := logisticOn(turning(t, 16), crossfit.Joint)
	r := run(t, dir, q)
	if r.Tuning != 2 || r.Tested != 11 || len(r.Blocks) != 11 || r.Blocks[0].Time != "5" || r.Metric != "log-loss" {
		t.Errorf("%d blocks tune, %d count from %s, %s", r.Tuning, r.Tested, r.Blocks[0].Time, r.Metric)
	}
	uniform, forgetting, window := r.rule(Uniform), r.rule(Forgetting), r.rule(Window)
	d := forgetting.AgainstUniform.Mean
	if math.Abs(d-(forgetting.Scores["log-loss"]-uniform.Scores["log-loss"])) > 1e-9 || d > -.1 {
		t.Errorf("forgetting against uniform %v", d)
	}
	if window.AgainstUniform.Mean > -.1 || uniform.AgainstUniform != (Difference{}) || r.rule(Last).Tuned || !window.Tuned {
		t.Errorf("window %+v, uniform %+v", window, uniform)
	}
	if loss := r.Blocks[len(r.Blocks)-1].HeldOut; loss < .3 || loss > .68 { // log 2 if nothing had turned
		t.Errorf("the held-out loss of g is %g", loss)
	}
	if joint := r.rule("joint"); joint.Kind != crossfit.Joint || joint.AgainstUniform.Mean > 0 {
		t.Errorf("joint %+v", joint)
	}
	s, err := tables.Open(q.Source)
	demand.NoError(t, err)
	want, n := 0., 0.
	for block := 5; block < 16; block++ { // majority, with one more row of each class
		past, yes := 2., 1.
		for _, row := range s.Times.Rows(0, block) {
			past++
			yes += float64(s.Label.Class[row])
		}
		for _, row := range s.Times.Rows(block, block+1) {
			p := yes / past
			if s.Label.Class[row] == 0 {
				p = 1 - p
			}
			want, n = want-math.Log(p), n+1
		}
	}
	if got := r.rule(Majority).Scores["log-loss"]; math.Abs(got-want/n) > 1e-9 {
		t.Errorf("majority has log loss %v, want %v", got, want/n)
	}
	h := host(t, dir)
	again, err := runOn(context.Background(), h, q)
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the second run differs: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(r.String()), "\n")
	if lines[0] != r.Verdict.Sentence || len(lines) > 16 || strings.Contains(r.String(), "+0.0000 [+0.0000, +0.0000]") ||
		!strings.Contains(r.String(), r.difference(forgetting.AgainstUniform)) {
		t.Errorf("the summary is\n%s", r)
	}
}

// TestNoLookAhead: later blocks change no score of an earlier one, and no choice made before it.
func TestNoLookAhead(t *testing.T) {
	q := logisticOn(turning(t, 16), crossfit.Joint)
	q.Until, q.Last = "11", 6
	whole := run(t, t.TempDir(), q)
	q.Source = turning(t, 12)
	short := run(t, t.TempDir(), q)
	if !reflect.DeepEqual(whole.Blocks, short.Blocks) || !reflect.DeepEqual(whole.Verdict, short.Verdict) {
		t.Errorf("later blocks change %v to %v", short.Blocks, whole.Blocks)
	}
	q.Source, q.Until, q.Last, q.Kinds = turning(t, 16), "", 10, []crossfit.Kind{}
	longer := run(t, t.TempDir(), q)
	chosen := longer.rule(Forgetting).Chosen
	if !slices.Equal(chosen[:4], whole.rule(Forgetting).Chosen) {
		t.Errorf("choices %v before later blocks, %v with them", whole.rule(Forgetting).Chosen, chosen)
	}
}

// TestGap: with a gap nothing is learned from the labels of the blocks just before a test block, neither by models nor
// by choices. So other labels of one block change its own losses, and those of the blocks behind the gap alone. A month
// is as long as one can be, but a bin where bins are months. Bins without rows count.
func TestGap(t *testing.T) {
	source := turning(t, 16)
	text := demand.Read(t, source.File)
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "8,") { // block 8
			lines[i] = strings.NewReplacer(",true,", ",false,", ",false,", ",true,").Replace(line)
		}
	}
	other := source
	other.File = demand.CSV(t, strings.Join(lines, "\n"))
	for _, gap := range []string{"", "2 blocks"} {
		q := logisticOn(source)
		q.Gap = gap
		a := run(t, t.TempDir(), q)
		q.Source = other
		b := run(t, t.TempDir(), q)
		var changed []string
		for i := range a.Blocks {
			if !reflect.DeepEqual(a.Blocks[i], b.Blocks[i]) {
				changed = append(changed, a.Blocks[i].Time)
			}
		}
		want := map[string]string{"": "8 9 10 11", "2 blocks": "8 11 12 13"}[gap]
		if got := strings.Join(changed, " "); !strings.HasPrefix(got, want) {
			t.Errorf("gap %q: blocks %s change, want %s", gap, got, want)
		}
	}
	for _, bad := range []string{"2.5 blocks", "-1", "soon", "3 days"} { // the times are numbers
		_, err := Prepare(Request{Request: tables.Request{Source: source}, Model: "logistic", Gap: bad})
		if usage.ExitCode(context.Background(), err) != 2 || !strings.Contains(err.Error(), bad) {
			t.Errorf("gap %q: %v", bad, err)
		}
	}
	dates := tables.Source{File: demand.CSV(t, "day,x\n2024-01-01,1\n2024-09-01,2\n"), Time: "day"}
	for _, c := range []struct {
		gap, bin string
		want     gap
	}{
		{"10 days", "", gap{time: 10}}, {"6 months", "", gap{time: 186}}, {"1 quarter", "", gap{time: 92}}, {"1 year", "", gap{time: 366}},
		{"1 month", "month", gap{time: 1}}, {"1 year", "month", gap{time: 12}}, {"2 quarters", "month", gap{time: 6}},
		{"1 month", "quarter", gap{time: 1}}, {"1 month", "week", gap{time: 5}}, {"45 days", "month", gap{time: 2}},
		{"2 blocks", "month", gap{blocks: 2}}, {"0 days", "month", gap{}},
	} {
		dates.Bin.Unit = c.bin
		if c.want.time > 0 {
			c.want.unit = cmp.Or(c.bin, "day") + "s"
		}
		s, err := tables.Open(dates)
		demand.NoError(t, err)
		got, err := parseGap(c.gap, s)
		demand.NoError(t, err)
		demand.Equal(t, got, c.want, "gap of %s in bins %q", c.gap, c.bin)
	}
	for _, c := range []struct {
		gap  string
		unit string
		step time.Duration // between the rows
		want int           // blocks before a test block that are not learned from, with and without --bin
	}{{"7 days", "day", 24 * time.Hour, 7}, {"3 hours", "hour", time.Hour, 3}, {"5 hours", "hour", time.Hour, 5},
		{"14 days", "day", 7 * 24 * time.Hour, 2}} { // rows on Mondays alone
		text, begin := "t,x\n", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		for row := range 200 {
			text += begin.Add(time.Duration(row) * c.step).Format("2006-01-02 15:04,1\n")
		}
		for _, bin := range []string{"", c.unit} {
			s, err := tables.Open(tables.Source{File: demand.CSV(t, text), Time: "t", Bin: table.Bin{Unit: bin}})
			demand.NoError(t, err)
			g, err := parseGap(c.gap, s)
			demand.NoError(t, err)
			for step := c.want; step < 200; step++ {
				if got := step - g.known(s.Times.Values, step); got != c.want {
					t.Fatalf("a gap of %s leaves out %d blocks before block %d in bins %q, want %d", c.gap, got, step, bin, c.want)
				}
			}
		}
	}
}

// TestInterrupted: a back test that is interrupted and continued equals one that is not.
func TestInterrupted(t *testing.T) {
	q := logisticOn(turning(t, 16))
	want := run(t, t.TempDir(), q)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	h := host(t, dir)
	h.Log = writer(func(p []byte) (int, error) { // at the first progress
		if strings.Contains(string(p), "step") {
			cancel()
		}
		return len(p), nil
	})
	_, err := runOn(ctx, h, q)
	if err != nil && !errors.As(err, new(*runs.InterruptedError)) {
		t.Fatal(err)
	}
	if got := run(t, dir, q); !reflect.DeepEqual(got, want) {
		t.Errorf("continued: %v\nnot interrupted: %v", got, want)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestVerdict: omega is advised only where it is better than tuned forgetting and equal weights by the intervals, and a
// simple rule where it is better than equal weights by its interval, or by more than a slight gain that may be chance.
func TestVerdict(t *testing.T) {
	rule := func(name string, kind crossfit.Kind, loss, halfLife float64, window int, uniform, forgetting Difference) RuleResult {
		return RuleResult{Rule: name, Kind: kind, Scores: map[string]float64{"log-loss": loss}, HalfLife: halfLife,
			Window: window, AgainstUniform: uniform, AgainstForgetting: forgetting}
	}
	sure, maybe, worse := Difference{-.014, -.029, -.002}, Difference{-.014, -.029, .002}, Difference{.014, .01, .02}
	var unsure Difference // stands for an omega that is better than forgetting, but perhaps not than equal weights
	for _, c := range []struct {
		uniform, window, last, halfLife float64
		forgetting                      Difference // against equal weights
		omega                           *Difference
		want                            Advice
		says                            string
	}{
		{.7, .65, .9, 4, sure, &sure, Advice{Rule: "conditional-forgetting", Kind: crossfit.Conditional, HalfLife: 8,
			Helps: true}, "Weight the rows by the drift of y given x with a half-life of 8 weeks (--kind conditional " +
			"--half-life 8): log loss 0.590, 0.0140 lower than with equal weights (95% interval 0.0020 to 0.0290). With the best " +
			"half-life alone it is 0.600."},
		{.7, .65, .9, 4, sure, &maybe, Advice{Rule: Forgetting, HalfLife: 4},
			" Weights by the drift of y given x with a half-life of 8 weeks (--kind conditional --half-life 8), whose gain over tuned " +
				"forgetting is not certain: log loss 0.590, 0.0140 lower than with equal weights (95% interval 0.0020 to 0.0290); more " +
				"test blocks would tell."},
		{.7, .55, .9, 4, sure, &sure, Advice{Rule: Forgetting, HalfLife: 4},
			"Use weights that halve every 4 weeks (--kind none --half-life 4): log loss 0.600, 0.0140 lower than with equal " +
				"weights (95% interval 0.0020 to 0.0290). Weights by omega do not help here."},
		{.7, .55, .9, 4, maybe, &sure, Advice{Rule: Window, Window: 16},
			"Use the last 16 blocks only (--kind none --window 16), though the gain is not certain: log loss 0.550, 0.0140 lower than " +
				"with equal weights (95% interval -0.0020 to 0.0290). Weights by omega do not help here."},
		{.7, .65, .9, 4, maybe, &worse, Advice{Rule: Forgetting, HalfLife: 4},
			"Use weights that halve every 4 weeks (--kind none --half-life 4), though the gain is not certain: log loss 0.600, 0.0140 lower"},
		{.6002, .65, .9, 4, Difference{-.0002, -.0007, .0004}, &worse, Advice{Rule: Uniform}, "Use all of the past alike: neither " +
			"forgetting nor a window gains 1% of the loss. With weights that halve every 4 weeks (--kind none --half-life 4): log loss 0.600, 0.0002 lower than " +
			"with equal weights (95% interval -0.0004 to 0.0007). Weights by omega do not help here."},
		{.6002, .65, .9, 4, Difference{-.0002, -.0003, -.0001}, nil, Advice{Rule: Forgetting, HalfLife: 4}, "Use weights that halve"},
		{.5, .65, .9, 4, worse, &worse, Advice{Rule: Uniform},
			"Use all of the past alike: neither forgetting nor a window is better here (log loss 0.500). Weights by omega do not help here."},
		{.7, .65, .9, 0, maybe, &worse, Advice{Rule: Forgetting}, "Use all of the past alike: tuned forgetting chooses no " +
			"half-life today. With those that it chose on the way: log loss 0.600, 0.0140 lower than with equal weights (95%"},
		{.6002, .65, .9, 0, Difference{-.0002, -.0007, .0004}, &worse, Advice{Rule: Uniform},
			"Use all of the past alike: tuned forgetting chooses no half-life today. With those that it chose on the way: log"},
		{.7, .65, .9, 1.0 / 6, sure, nil, Advice{Rule: Forgetting, HalfLife: 1.0 / 6}, "Use weights that halve every 0.1667 weeks ("},
		{.7, .65, .9, 12345.6, sure, nil, Advice{Rule: Forgetting, HalfLife: 12345.6}, "Use weights that halve every 12346 weeks ("},
		{.7, .65, .9, 1, sure, nil, Advice{Rule: Forgetting, HalfLife: 1}, "Use weights that halve every 1 week (--kind none --half-life 1): "},
		{.7, .65, .3, 4, maybe, nil, Advice{Rule: Last, Window: 1},
			"Use the last block only (--kind none --window 1), though the gain is not certain: log loss 0.300, 0.0140 lower than with " +
				"equal weights (95% interval -0.0020 to 0.0290). No omega was tested."},
		{.592, .65, .9, 4, worse, &unsure, Advice{Rule: Uniform}, "Use all of the past alike: neither forgetting nor a window is better " +
			"here (log loss 0.592). Weights by the drift of y given x with a half-life of 8 weeks (--kind conditional --half-life 8), " +
			"whose gain is not certain: log loss 0.590, 0.0140 lower than with equal weights (95% interval -0.0020 to 0.0290); more"},
		{.7, .65, .9, 4, sure, &unsure, Advice{Rule: "conditional-forgetting", Kind: crossfit.Conditional, HalfLife: 8,
			Helps: true}, "(--kind conditional --half-life 8), though the gain is not certain: log loss 0.590"},
	} {
		uniform := sure
		if c.omega == &unsure { // against equal weights
			uniform, c.omega = maybe, &sure
		}
		r := &Result{Metric: "log-loss", unit: "weeks", Rules: []RuleResult{
			rule(Uniform, "", c.uniform, 0, 0, Difference{}, worse), rule(Window, "", c.window, 0, 16, maybe, maybe),
			rule(Forgetting, "", .6, c.halfLife, 0, c.forgetting, Difference{}), rule(Last, "", c.last, 0, 1, maybe, maybe)}}
		if c.omega != nil {
			r.Rules = append(r.Rules, rule("joint", crossfit.Joint, .65, 0, 0, sure, sure),
				rule("conditional-forgetting", crossfit.Conditional, .59, 8, 0, uniform, *c.omega))
		}
		got := r.judge()
		demand.Words(t, got.Sentence, c.says)
		if got.Sentence = ""; got != c.want {
			t.Errorf("verdict %+v, want %+v", got, c.want)
		}
	}
}

// TestDifferences: what the verdict rests on is what tables show: simultaneous intervals of the rules that compete.
func TestDifferences(t *testing.T) {
	rng := random.New(1, "intervals")
	names := []string{Uniform, Last, Window, Forgetting, "joint", "covariate", Majority}
	r, losses := &Result{}, make([][]float64, len(names))
	for i, name := range names {
		r.Rules = append(r.Rules, RuleResult{Rule: name, Kind: map[string]crossfit.Kind{"joint": "joint",
			"covariate": "covariate"}[name]})
		for range 30 {
			losses[i] = append(losses[i], rng.NormFloat64())
		}
	}
	rows := slices.Repeat([]int{10}, 30)
	for t := range rows {
		b := BlockResult{Rows: 10, Scores: map[string]float64{}}
		for i, name := range names {
			b.Scores[name] = losses[i][t]
		}
		r.Blocks = append(r.Blocks, b)
	}
	r.compare(0)
	minus := func(of []int, base int) (out [][]float64) {
		for _, i := range of {
			var d []float64
			for t := range losses[i] {
				d = append(d, losses[i][t]-losses[base][t])
			}
			out = append(out, d)
		}
		return out
	}
	_, simple := statistics.BlockBootstrap(minus([]int{1, 2, 3}, 0), rows, 0)
	_, omega := statistics.BlockBootstrap(minus([]int{4, 5}, 3), rows, 0)
	alone, _ := statistics.BlockBootstrap(minus([]int{4, 6}, 0), rows, 0)
	of := func(e statistics.Estimate) Difference { return Difference{e.Mean, e.Low, e.High} }
	for _, c := range []struct{ got, want Difference }{
		{r.Rules[1].AgainstUniform, of(simple[0])}, {r.Rules[3].AgainstUniform, of(simple[2])},
		{r.Rules[4].AgainstForgetting, of(omega[0])}, {r.Rules[5].AgainstForgetting, of(omega[1])},
		{r.Rules[4].AgainstUniform, of(alone[0])}, {r.Rules[6].AgainstUniform, of(alone[1])},
		{r.Rules[0].AgainstUniform, Difference{}}, {r.Rules[3].AgainstForgetting, Difference{}},
	} {
		demand.Equal(t, c.got, c.want, "interval")
	}
}

// scored is the result of a rule with a loss.
func scored(name string, loss float64) RuleResult {
	return RuleResult{Rule: name, Scores: map[string]float64{"log-loss": loss}}
}

// TestFactors: where rules by factors of omega took part, the verdict does not say that no omega was tested.
func TestFactors(t *testing.T) {
	r := &Result{Metric: "log-loss", Rules: []RuleResult{scored(Uniform, .5), scored(Forgetting, .5)}}
	if got := r.judge().Sentence; !strings.HasSuffix(got, " No omega was tested.") {
		t.Errorf("the verdict without omega is %q", got)
	}
	r.Rules = append(r.Rules, RuleResult{Rule: "omega-age", Scores: map[string]float64{"log-loss": .5}, last: Weighting{Kind: crossfit.Joint}})
	if got := r.judge().Sentence; strings.Contains(got, "omega") {
		t.Errorf("the verdict with a factor of omega is %q", got)
	}
}

// TestShown: the summary has the rules with the lowest losses, equal weights and what is advised, but none that is the
// same as equal weights.
func TestShown(t *testing.T) {
	r := &Result{Metric: "log-loss", Verdict: Advice{Rule: Last}}
	for i, name := range []string{Uniform, Last, Forgetting, "a", "b", "c", "d", "e", "f", "g", Window} {
		x := scored(name, 9-float64(i))
		if name != Uniform && name != Window {
			x.AgainstUniform = Difference{1, 0, 2}
		}
		r.Rules = append(r.Rules, x)
	}
	rules, others := r.Shown()
	var got []string
	for _, x := range rules {
		got = append(got, x.Rule)
	}
	if want := []string{"g", "f", "e", "d", "c", Forgetting, Last, Uniform}; !slices.Equal(got, want) || others != 3 {
		t.Errorf("shown are %v and %d others, want %v", got, others, want)
	}
	demand.Equal(t, tables.ShortName("block 17 (from 2024-03-01)"), "2024-03-01", "the date")
}

// TestDigits: losses have the digits that tell them apart, whatever their size.
func TestDigits(t *testing.T) {
	for loss, want := range map[float64]string{.5: "0.500 -0.0250 [-0.0300, +0.0010]", 2e-7: "2e-07 -1e-08 [-1.2e-08, +4e-10]",
		3.21987e20: "3.22e+20 -1.61e+19 [-1.932e+19, +6.44e+17]"} {
		r := &Result{Metric: "squared-error", Rules: []RuleResult{{Rule: Uniform, Scores: map[string]float64{"squared-error": loss}}}}
		if got := r.loss(r.Rules[0]) + " " + r.difference(Difference{-.05 * loss, -.06 * loss, .002 * loss}); got != want {
			t.Errorf("%g: %s, want %s", loss, got, want)
		}
	}
}

// TestIdle: the note names a prediction without a model that is better than what is advised.
func TestIdle(t *testing.T) {
	r := &Result{Metric: "log-loss", Rules: []RuleResult{scored(Uniform, .7), scored(NoChange, .8), scored(Majority, .6),
		scored(Committee, .5)}, Verdict: Advice{Rule: Uniform}}
	if note := r.idle(); len(note) != 1 || !strings.HasPrefix(note[0], "majority, ") {
		t.Errorf("note %q", note)
	}
	if r.Verdict.Committee = true; r.idle() != nil {
		t.Errorf("note %q next to a better committee", r.idle())
	}
	r.Verdict.Committee = false
	if r.Rules[0] = scored(Uniform, .5); r.idle() != nil {
		t.Errorf("note %q", r.idle())
	}
	r.Rules = append(r.Rules, scored(Season, .48), scored(Season+"-forgetting", .47))
	if note := r.idle(); len(note) != 1 || !strings.HasPrefix(note[0], "season-forgetting, a rule that the command weights does not have") {
		t.Errorf("note %q", note)
	}
}

// TestMistakes are usage errors or *table.Error.
func TestMistakes(t *testing.T) {
	good := logisticOn(turning(t, 16))
	for want, change := range map[string]func(q *Request){
		"the label is missing": func(q *Request) { q.Label = "" },
		"no rule":              func(q *Request) { q.Rules = []string{"jont"} },
		"no kind":              func(q *Request) { q.Kinds = []crossfit.Kind{"jont"} },
		"neither logistic":     func(q *Request) { q.Model = "tree" },
		"needs at least 8":     func(q *Request) { q.Until = "6" },
		"cannot be test":       func(q *Request) { q.Last = 15 },
	} {
		q := good
		change(&q)
		_, err := Prepare(q)
		var mistake *table.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &mistake) && !errors.Is(err, usage.Err) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestFewPast: too few rows before the first test block are a mistake that the user can mend, and its text says how.
func TestFewPast(t *testing.T) {
	file := demand.Table(t, "x", 13, 1, func(rng *rand.Rand, block int) ([]float64, string) {
		return []float64{rng.NormFloat64()}, fmt.Sprint(block % 2)
	})
	source := tables.Source{File: file, Time: "block", Label: "y"}
	q := Request{Request: tables.Request{Source: source, Fit: crossfit.DefaultConfig()}, Model: "logistic", Rules: []string{}, Kinds: []crossfit.Kind{crossfit.Joint}}
	q.Fit.Permutations = 0
	_, err := runOn(t.Context(), host(t, t.TempDir()), q)
	var mistake *table.Error
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "before the test block of 2 are too few") ||
		!strings.Contains(mistake.Fix, "--last") {
		t.Errorf("two rows before the first test block: %v", err)
	}
}

// TestFinding: a back test says whether the table drifts, from the rows that drift and weights test.
func TestFinding(t *testing.T) {
	dir := t.TempDir()
	q := logisticOn(turning(t, 16))
	q.Rules, q.Last, q.Fit.Permutations = []string{}, 4, tables.LeastPermutations
	r := run(t, dir, q)
	if lines := strings.Split(r.String(), "\n"); lines[0] != r.Verdict.Sentence || lines[1] != r.Finding.Sentence+"." ||
		strings.Join(r.Finding.Drifting(), ", ") != tables.InRule {
		t.Errorf("the summary begins with %q", lines[:2])
	}
	p, err := Prepare(q)
	demand.NoError(t, err)
	d, err := drift.Prepare(q.Request)
	if err != nil || !reflect.DeepEqual(p.Tested, d.Tested) || !reflect.DeepEqual(p.Request.Request, d.Request) {
		t.Errorf("drift tests other rows: %v", err)
	}
	h := host(t, dir)
	if again, err := runOn(context.Background(), h, q); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the second run differs: %v, %v", again, err)
	}
}

// TestUnseen: a back test neither learns from rows that are marked nor predicts them, also where all of a block are.
// The column of marks is no feature, so a back test with it is another one.
func TestUnseen(t *testing.T) {
	q := logisticOn(turning(t, 16))
	q.Source.Read.Drop, q.Label = nil, "z"
	id := func(unseen string) string {
		q.Source.Unseen = unseen
		p, err := Prepare(q)
		demand.NoError(t, err)
		job, err := p.job(&linear{})
		demand.NoError(t, err)
		return job.Spec.ID()
	}
	if id("") == id("y") {
		t.Error("with and without unseen rows a back test is stored as the same")
	}
	lines := strings.Split(strings.TrimSpace(string(demand.Read(t, turning(t, 16).File))), "\n")
	marked, rest := lines[0]+",new\n", lines[0]+"\n"
	for i, line := range lines[1:] {
		if block := i / 40; i%3 == 1 || block == 1 || block == 8 || block == 15 {
			marked += strings.NewReplacer(",true,", ",false,", ",false,", ",true,").Replace(line) + ",true\n"
		} else {
			marked, rest = marked+line+",false\n", rest+line+"\n"
		}
	}
	q = logisticOn(turning(t, 16))
	q.Rules, q.Last = []string{Last}, 10
	q.File = demand.CSV(t, rest)
	want := run(t, t.TempDir(), q)
	q.File, q.Source.Unseen = demand.CSV(t, marked), "new"
	if got := run(t, t.TempDir(), q); got.Tuning != want.Tuning || !reflect.DeepEqual(got.Blocks, want.Blocks) {
		t.Errorf("the blocks are %v, without the marked rows %v", got.Blocks, want.Blocks)
	}
}

// TestUpTo: rows after the last block that is asked for set neither classes nor half-lives, and another label is
// another back test.
func TestUpTo(t *testing.T) {
	text, later := "t,x,y\n", ""
	for i := range 240 {
		text += fmt.Sprintf("%d,%d,%d\n", i/20, i*37%11, i*37%11%3)
	}
	for i := range 60 { // far apart, with labels that the others do not have
		later += fmt.Sprintf("%d,1,%d\n", 20*(i+1), 3+i)
	}
	for _, rows := range []int{1, 60} { // four classes, or so many that they would be a number
		var ids []string
		for _, until := range []string{"11", ""} {
			q := logisticOn(tables.Source{Time: "t", Label: "y"})
			q.File, q.Until = demand.CSV(t, text+strings.Join(strings.SplitAfter(later, "\n")[:rows], "")), until
			p, err := Prepare(q)
			demand.NoError(t, err)
			names := p.Stream.Label.Names
			life := p.rules[slices.IndexFunc(p.rules, func(r Rule) bool { return r.Name == Forgetting })].Weightings[0].HalfLife
			if until != "" && (strings.Join(names, " ") != "0 1 2" || life != 1) {
				t.Errorf("with %d later rows: classes %v, the first half-life is %v", rows, names, life)
			}
			job, err := p.job(&linear{})
			demand.NoError(t, err)
			ids = append(ids, fmt.Sprint(job.Spec.Settings["label"]))
		}
		if ids[0] == ids[1] {
			t.Errorf("the back test of another label is stored as the same: %q", ids)
		}
	}
}

// TestShortModel: reports name a model by its comment, and otherwise without the folders of its files.
func TestShortModel(t *testing.T) {
	for model, want := range map[string]string{
		"logistic":                           "logistic",
		"exec:/usr/bin/python3 a/trainer.py": "exec:python3 trainer.py",
		"serve:/usr/bin/python3 -m tvps._serve /cache/1f.pickle # StandardScaler + Ridge": "StandardScaler + Ridge",
	} {
		demand.Equal(t, (&Result{Model: model}).ShortModel(), want, "%s is named", model)
	}
}
