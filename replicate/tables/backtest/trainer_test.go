package backtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// Actions of this test binary as a trainer, see TestMain.
const trainerVariable = "TVPS_TEST_TRAINER"

// TestMain is also the trainer of TestCommand: it predicts the weighted share of each class, or the weighted mean.
func TestMain(m *testing.M) {
	action := os.Getenv(trainerVariable)
	switch {
	case action == "":
		os.Exit(m.Run())
	case action == "fail":
		fmt.Fprintln(os.Stderr, "no trainer today")
		os.Exit(3)
	case len(os.Args) == 4:
		answer(action, os.Args[1], os.Args[2], os.Args[3])
	default:
		for {
			var train, test, out string
			if _, err := fmt.Scanf("%s\t%s\t%s\n", &train, &test, &out); errors.Is(err, io.EOF) {
				os.Exit(0)
			}
			answer(action, train, test, out)
			if action == "leave" {
				fmt.Println("ok")
				os.Exit(4)
			}
			fmt.Println(map[bool]string{true: "ok", false: "what?"}[action != "babble"])
		}
	}
	os.Exit(0)
}

func answer(action, train, test, out string) {
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	a, err := table.Open(train, table.Options{})
	must(err)
	b, err := table.Open(test, table.Options{})
	must(err)
	if columns, err := b.Features(); err != nil || slices.Contains(columns, os.Getenv("TVPS_LABEL")) {
		must(fmt.Errorf("the test table has the label: %v, %v", columns, err))
	}
	columns, err := a.Columns([]string{os.Getenv("TVPS_LABEL")}, nil)
	must(err)
	weight, _, err := a.Numbers(weightColumn, nil)
	must(err)
	if mean := floats.Sum(weight) / float64(len(weight)); math.Abs(mean-1) > 1e-9 || slices.Min(weight) <= 0 {
		must(fmt.Errorf("weights of mean %v from %v", mean, slices.Min(weight)))
	}
	share := 0.
	for i, w := range weight {
		switch y := columns[0].Values.(type) {
		case []float64:
			share += w * y[i] / float64(len(weight))
		case []int64:
			share += w * float64(y[i]) / float64(len(weight))
		case []bool:
			if y[i] {
				share += w / float64(len(weight))
			}
		}
	}
	if action == "helper" { // a probability, and a number of rows that it does not learn from
		text, err := os.ReadFile(os.Getenv(trainerVariable + "_HELPER"))
		must(err)
		bad := 0
		_, err = fmt.Sscan(string(text), &share, &bad)
		must(err)
		if fmt.Fprintln(os.Stderr, "the share is", share); a.Rows() == bad {
			must(errors.New("such a table"))
		}
	}
	must(table.Write(out, table.Column{Name: "prediction", Values: slices.Repeat([]float64{share}, b.Rows())}))
}

// turning writes a table of 16 blocks of 40 rows, in which the rule from x to y turns round before block 10.
func turning(t *testing.T, blocks int) tables.Source {
	t.Helper()
	rng := random.New(1, "backtest test")
	text := "t,x,colour,y,z,n\n"
	for i := range 16 * 40 {
		x, block := rng.NormFloat64(), i/40
		y := x+.5*rng.NormFloat64() > 0 == (block < 10)
		line := fmt.Sprintf("%d,%.4f,%s,%v,%.4f,%d\n", block, x, []string{"red", "blue"}[rng.IntN(2)], y,
			3*x+rng.NormFloat64(), map[bool]int{true: 1}[y])
		if block < blocks {
			text += line
		}
	}
	return tables.Source{File: demand.CSV(t, text), Time: "t", Label: "y", Read: table.Options{Drop: []string{"z", "n"}}}
}

// number is the drifting table with the number z as label.
func number(t *testing.T) tables.Source {
	s := turning(t, 16)
	s.Label, s.Read.Drop = "z", []string{"y", "n"}
	return s
}

func newTestTask(t *testing.T, source tables.Source, step int) *Task {
	t.Helper()
	s, err := tables.Open(source)
	demand.NoError(t, err)
	k, err := newTask(s, step, s.Times.Rows(0, step), s.Times.Rows(step, step+1), true, 0)
	demand.NoError(t, err)
	return k
}

// TestLinear: the gradient of the stated loss is 0 at the coefficients, by differences; a row of weight 2 counts as
// two rows.
func TestLinear(t *testing.T) {
	k := newTestTask(t, turning(t, 16), 5)
	weight := make([]float64, len(k.train))
	for i := range weight {
		weight[i] = float64(i % 3)
	}
	beta, err := logistic(context.Background(), k, sparsely(k.Data.X, k.Data.Dim), weight, make([]float64, (k.Data.Dim+1)*2))
	demand.NoError(t, err)
	loss := func(beta []float64) float64 {
		d, sum := k.Data.Dim, 0.
		for i, w := range weight {
			var z [2]float64
			for c := range z {
				z[c] = beta[c*(d+1)+d]
				for j := range d {
					z[c] += beta[c*(d+1)+j] * float64(k.Data.X[i*d+j])
				}
			}
			y := k.Data.Label[i]
			sum += w * math.Log1p(math.Exp(z[1-y]-z[y]))
		}
		for c := range 2 {
			for j := range d {
				sum += beta[c*(d+1)+j] * beta[c*(d+1)+j] / 2
			}
		}
		return sum
	}
	for i := range beta {
		up, down := slices.Clone(beta), slices.Clone(beta)
		up[i] += 1e-4
		down[i] -= 1e-4
		if g := (loss(up) - loss(down)) / 2e-4; math.Abs(g) > .02*float64(len(weight))/100 {
			t.Errorf("the gradient of coefficient %d is %v", i, g)
		}
	}
}

// TestRidge: the normal equations hold: sum_i w_i (prediction_i - y_i) = 0 on the training rows, and the slope is
// that of z.
func TestRidge(t *testing.T) {
	k := newTestTask(t, number(t), 8)
	k.testX, k.test = k.Data.X, k.train
	weight := k.Equal()
	weight[0] = 40
	p, err := ridge(k, weight)
	demand.NoError(t, err)
	residual, squares := 0., 0.
	for i, v := range p {
		residual += weight[i] * (v - k.Data.Target[i])
		squares += (v - k.Data.Target[i]) * (v - k.Data.Target[i]) / float64(len(p))
	}
	if math.Abs(residual) > 1e-6 || squares < .8 || squares > 1.25 {
		t.Errorf("sum of residuals %v, squared error %v, that of the noise is 1", residual, squares)
	}
}

// TestCommand: a trainer gets weights and predicts, started once a model or once for all; its mistakes are sentences.
func TestCommand(t *testing.T) {
	binary, err := os.Executable()
	demand.NoError(t, err)
	for _, c := range []struct {
		action string
		serve  bool
		want   string // of the error; "" for none
	}{
		{action: "share"}, {action: "share", serve: true}, {"fail", false, "no trainer today"},
		{"fail", true, "(exit status 3) before its answer:\nno trainer today"}, {"babble", true, `answered "what?"`},
	} {
		t.Setenv(trainerVariable, c.action)
		k := newTestTask(t, turning(t, 16), 12)
		m := newCommand("'"+binary+"'", c.serve, 2, newConsole(nil))
		weights := [][]float64{k.Equal(), k.weights(Weighting{HalfLife: 2}, nil), k.weights(Weighting{Window: 3}, nil)}
		p, err := m.predict(context.Background(), k, weights)
		m.close()
		if c.want != "" {
			demand.Words(t, fmt.Sprint(err), c.want)
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for i, weight := range weights {
			share := 0.
			for j, w := range weight {
				share += w * float64(k.Data.Label[j]) / floats.Sum(weight)
			}
			if math.Abs(p[i][1]-share) > 1e-9 || math.Abs(p[i][0]+p[i][1]-1) > 1e-9 || len(p[i]) != 80 {
				t.Errorf("%+v, weights %d: %v, want %v", c, i, p[i][:2], share)
			}
		}
	}
	t.Setenv(trainerVariable, "share")
	n := newTestTask(t, number(t), 8)
	m := newCommand("'"+binary+"'", false, 1, newConsole(nil))
	p, err := m.predict(context.Background(), n, [][]float64{n.Equal()})
	if want := floats.Sum(n.Data.Target) / float64(len(n.train)); err != nil || math.Abs(p[0][0]-want) > 1e-9 {
		t.Errorf("%v, %v; want %v", p, err, want)
	}
}

// TestLoose: a trainer's children that keep its output open, endless answers, and one that does not end.
func TestLoose(t *testing.T) {
	binary, err := os.Executable()
	demand.NoError(t, err)
	k := newTestTask(t, turning(t, 16), 12)
	defer func(delay time.Duration) { outputDelay = delay }(outputDelay)
	outputDelay /= 4
	defer func(delay time.Duration) { endDelay = delay }(endDelay)
	endDelay = time.Second
	for _, c := range []struct {
		action, text string
		serve        bool
		want         string // of the error
	}{
		{action: "share", text: "'%s' # with its name"},
		{action: "share", text: "sleep 100 & '%s'"},
		{action: "share", text: "sleep 100 & '%s'", serve: true},
		{action: "share", text: "setsid sleep 3 & '%s'"}, // in another group
		{action: "share", text: "tr '\\0' x < /dev/zero #%s", serve: true, want: `xxxx" instead of ok`},
		{action: "leave", text: "'%s'", serve: true},
		{action: "share", text: "'%s'; sleep 100", serve: true},
		{action: "share", text: "setsid sleep 3 & exit 5 #%s", serve: true, want: "ended (exit status 5) before its answer"},
	} {
		t.Setenv(trainerVariable, c.action)
		m := newCommand(fmt.Sprintf(c.text, binary), c.serve, 1, newConsole(nil))
		start := time.Now()
		_, err = m.predict(context.Background(), k, [][]float64{k.Equal()})
		if c.want == "" && err != nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
		m.close()
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%+v took %v", c, took)
		}
	}
}

// TestPredictions: what a trainer may write for a test block of one row, also probabilities that are the names of their
// classes, and sentences for the rest. A class without a row of weight may be missing, another may not.
func TestPredictions(t *testing.T) {
	ofText, numbers := turning(t, 16), turning(t, 16)
	numbers.Label, numbers.Read.Drop = "n", []string{"y", "z"}
	k, n := newTestTask(t, ofText, 12), newTestTask(t, numbers, 12)
	k.test, n.test = k.test[:1], n.test[:1]
	first := k.Equal() // class true has no weight
	for i, y := range k.Data.Label {
		first[i] *= float64(1 - y)
	}
	path := filepath.Join(t.TempDir(), "p.csv")
	for _, c := range []struct {
		task    *Task
		weight  []float64
		content string
		first   float64 // of the predictions
		want    string  // of the error
	}{
		{k, k.Equal(), "prediction\n.25\n", .75, ""}, {k, k.Equal(), "false,true\n.75,.25\n", .75, ""},
		{k, k.Equal(), "True,False\n.25,.75\n", .75, ""}, {n, n.Equal(), "1.0,0\n.25,.75\n", .75, ""},
		{n, n.Equal(), "0,1\n0,1\n", 0, ""},
		{k, first, "false\n1\n", 1, ""}, {k, k.Equal(), "false\n1\n", 0, "no such column"},
		{k, k.Equal(), "yes,no\n.25,.75\n", 0, "no such column"},
		{k, k.Equal(), "false,true\n", 0, "0 rows, the test block has 1"},
		{k, k.Equal(), "prediction\n.25\n.25\n", 0, "2 rows, the test block has 1"},
		{k, k.Equal(), "false,true\n.7,.7\n", 0, "sum to 1"}, {k, k.Equal(), "\x00\x01", 0, "the trainer's predictions: "},
	} {
		demand.Write(t, path, c.content)
		p, err := readPredictions(path, c.task, c.weight)
		if c.want == "" && (err != nil || !slices.Equal(p, []float64{c.first, 1 - c.first})) {
			t.Errorf("%q: %v, %v", c.content, p, err)
		} else if c.want != "" {
			demand.Error(t, err, c.want)
		}
		if errors.As(err, new(*table.Error)) { // of the user's table: exit code 2
			t.Errorf("%q: the user's table is blamed: %v", c.content, err)
		}
	}
	_, err := readPredictions(path+"x", k, k.Equal())
	demand.Error(t, err, "wrote no predictions to OUT")
	path = filepath.Join(t.TempDir(), "p.parquet")
	demand.NoError(t, table.Write(path, table.Column{Name: "prediction", Values: []float64{.25}}))
	if p, err := readPredictions(path, k, k.Equal()); err != nil || !slices.Equal(p, []float64{.75, .25}) {
		t.Errorf("Parquet: %v, %v", p, err)
	}
}

// TestTrainerFails: when a model has failed, the others of the block end at once.
func TestTrainerFails(t *testing.T) {
	k := newTestTask(t, turning(t, 16), 12)
	for _, c := range []struct{ model, want string }{
		{"serve:read -r line; echo ok; sleep 300", "wrote no predictions to OUT"},
		{"serve:read -r line; mkdir '%s' && echo epoch 1 && exit; sleep 300", "standard error"},
		{"exec:mkdir '%s' && exit 3; sleep 300 #", "(exit status 3) before its answer"},
	} {
		text, serve, _ := commandOf(strings.ReplaceAll(c.model, "%s", filepath.Join(t.TempDir(), "first")))
		m := newCommand(text, serve, 2, newConsole(nil))
		start := time.Now()
		_, err := m.predict(context.Background(), k, [][]float64{k.Equal(), k.Equal(), k.Equal()})
		demand.Error(t, err, c.want)
		if m.close(); time.Since(start) > time.Minute {
			t.Errorf("%s took %v", c.model, time.Since(start))
		}
	}
}

// TestCancelled: of a trainer whose child hangs and ignores signals nothing runs on after an interrupt.
func TestCancelled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	m := newCommand(`trap "" INT TERM HUP; sleep 90 & echo $! >'`+file+`'; wait; : #`, false, 1, newConsole(nil))
	k := newTestTask(t, turning(t, 16), 12)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := m.predict(ctx, k, [][]float64{k.Equal()})
		ended <- err
	}()
	commandLine := func() string { // of the child, empty when it has ended
		pid, _ := os.ReadFile(file)
		text, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/cmdline")
		return string(text)
	}
	if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		demand.Soon(t, "the child", func() bool { return strings.HasPrefix(commandLine(), "sleep") })
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	m.close()
	demand.Soon(t, "the child's end", func() bool { return commandLine() == "" })
}

// TestShownLines: each line of trainers is shown once, without control characters, and not for ever.
func TestShownLines(t *testing.T) {
	var out strings.Builder
	c := newConsole(&out)
	for i := range 3 {
		l := &output{log: c}
		fmt.Fprintf(l, "Warning: \x1b[2Jcold\nhalf")
		fmt.Fprintf(l, " a line %d\n\n", i)
	}
	want := "trainer: Warning: \\x1b[2Jcold\ntrainer: half a line 0\ntrainer: half a line 1\ntrainer: half a line 2\n"
	demand.Equal(t, out.String(), want, "shown")
	for i := range 200 {
		fmt.Fprintf(&output{log: c}, "%d\n", i)
	}
	demand.Equal(t, strings.Count(out.String(), "\n"), mostShown+1, "lines that are shown")
}

// weighing is a trainer that learns with the weights as use turns them, or with a last layer alone that does.
type weighing struct {
	linear
	use  func(w float64) float64
	last bool
	hard bool // predictions are classes
}

func (m *weighing) predict(ctx context.Context, t *Task, weights [][]float64) ([][]float64, error) {
	data, encoder, err := t.stream.Data(t.train)
	if err != nil {
		return nil, err
	}
	test, err := encoder.Encode(t.stream.Table, t.test)
	if err != nil {
		return nil, err
	}
	data.Label, data.Target = t.Data.Label, t.Data.Target
	var out [][]float64
	for _, w := range weights {
		used := slices.Clone(w)
		for i := range used {
			if used[i] > 0 {
				used[i] = m.use(used[i])
			}
		}
		k := &Task{train: t.train, test: t.test, Data: data, testX: test}
		p, err := m.linear.predict(ctx, k, [][]float64{used})
		if err != nil {
			return nil, err
		}
		if m.last { // calibrates the score of the first layer with the weights
			all := &Task{train: t.train, test: t.train, Data: data, testX: data.X}
			score, err := m.linear.predict(ctx, all, [][]float64{used})
			if err != nil {
				return nil, err
			}
			k = &Task{train: t.train, test: t.test, Data: data}
			k.Data.Dim, k.Data.X = 1, nil
			for i := range t.train {
				k.Data.X = append(k.Data.X, float32(score[0][2*i]))
			}
			for i := range t.test {
				k.testX = append(k.testX, float32(p[0][2*i]))
			}
			if p, err = m.linear.predict(ctx, k, [][]float64{w}); err != nil {
				return nil, err
			}
		}
		if m.hard {
			p[0] = xslices.Map(p[0], math.Round)
		}
		out = append(out, p[0])
	}
	return out, nil
}

// TestCheckWeights: a trainer that does not learn with the weights, or whose last layer alone does, is found.
func TestCheckWeights(t *testing.T) {
	same, none := func(w float64) float64 { return w }, func(float64) float64 { return 1 }
	alone := turning(t, 16)
	alone.Read.Drop = append(alone.Read.Drop, "colour")
	for _, c := range []struct {
		name        string
		source      tables.Source
		model       *weighing
		found, note bool
	}{
		{name: "weights", source: turning(t, 16), model: &weighing{use: same}},
		{name: "no weights", source: turning(t, 16), model: &weighing{use: none}, found: true},
		{name: "last layer", source: turning(t, 16), model: &weighing{use: none, last: true}, found: true},
		{name: "square roots", source: turning(t, 16), model: &weighing{use: math.Sqrt}},
		{name: "number", source: number(t), model: &weighing{use: same}},
		{name: "number without weights", source: number(t), model: &weighing{use: none}, found: true},
		{name: "one feature", source: alone, model: &weighing{use: none}, note: true},
		{name: "classes", source: turning(t, 16), model: &weighing{use: same, hard: true}, note: true},
	} {
		p, err := Prepare(Request{Request: tables.Request{Source: c.source, Fit: crossfit.ForTest(60)}, Model: "exec:mine"})
		demand.NoError(t, err)
		note, err := p.checkWeights(context.Background(), c.model)
		if (note != "") != c.note || (err != nil) != c.found ||
			err != nil && !strings.Contains(err.Error(), "does not learn with the weights") {
			t.Errorf("%s: %v, note %q", c.name, err, note)
		}
	}
}

// TestReuse: a finished back test of a trainer is computed again, as a file that its text does not name may have
// changed; an interrupted one continues and says so; Reuse takes a finished one and says so.
func TestReuse(t *testing.T) {
	binary, err := os.Executable()
	demand.NoError(t, err)
	t.Setenv(trainerVariable, "helper")
	helper, dir := filepath.Join(t.TempDir(), "helper"), t.TempDir()
	t.Setenv(trainerVariable+"_HELPER", helper)
	q := Request{Request: tables.Request{Source: turning(t, 16), Fit: crossfit.ForTest(60)},
		Model: "exec:'" + binary + "'", Kinds: []crossfit.Kind{},
		Rules: []string{}, Last: 5}
	var log strings.Builder
	losses := func(text string, reuse bool) (out []float64) {
		t.Helper()
		demand.Write(t, helper, text)
		h := host(t, dir)
		log.Reset()
		h.Log, q.Reuse = &log, reuse
		r, err := runOn(context.Background(), h, q)
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "the test block of 15: ") || !strings.Contains(text, "such a table") {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(log.String()), "failed") { // the caller prints the error
				t.Errorf("the failure is also in the log: %s", &log)
			}
			return nil
		}
		if taken := strings.Join(r.Notes, "; "); strings.Contains(taken, "taken from") != strings.Contains(log.String(), "taken from") {
			t.Errorf("notes %s, log %s", taken, &log)
		}
		for _, b := range r.Blocks {
			out = append(out, b.Scores[Uniform])
		}
		return out
	}
	first, second := losses(".5 0", false), losses(".9 0", false)
	if slices.Equal(first, second) || math.Abs(first[0]-math.Ln2) > 1e-9 || strings.Contains(log.String(), "taken from") {
		t.Errorf("with the helper changed: %v after %v; %s", second, first, &log)
	}
	demand.Words(t, log.String(), "trainer: the share is 0.9\n")
	if got := losses(".2 0", true); !slices.Equal(got, second) || !strings.Contains(log.String(), "note: 5 test blocks are "+
		"taken from a back test that began on 2") {
		t.Errorf("with reuse: %v, %s", got, &log)
	}
	if got := losses(".5 600", false); got != nil { // at the last block
		t.Errorf("losses %v of a trainer that fails", got)
	}
	if got := losses(".9 0", false); got[0] != first[0] || got[2] != second[2] ||
		!strings.Contains(log.String(), "note: 4 test blocks are taken") {
		t.Errorf("continued: %v after %v; %s", got, first, &log)
	}
}

// TestIdentity: another trainer's text is another run.
func TestIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.py")
	of := func(text string) string {
		demand.Write(t, path, text)
		return newCommand("python "+path, false, 1, newConsole(nil)).identity()
	}
	if a, b := of("1"), of("2"); a == b {
		t.Errorf("both are %s", a)
	}
	if got, want := of("1"), "; train.py "+fmt.Sprintf("%x", sha256.Sum256([]byte("1"))); !strings.HasSuffix(got, want) {
		t.Errorf("%s instead of %s", got, want)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := demand.Pipe(pipe); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	// What has no end, or no content yet, is not read.
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		c := &command{text: "python train < " + path}
		demand.Equal(t, c.identity(), "command: "+c.text, "identity")
	}
	for _, bad := range []string{"", "forest", "exec:", "serve: ", "exec: # hi", "serve:# hi"} {
		if checkModel(bad) == nil {
			t.Errorf("the model %q was accepted", bad)
		}
	}
}
