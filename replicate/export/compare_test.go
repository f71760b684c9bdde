package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
)

func compare(t *testing.T, a, b Side) *Comparison {
	t.Helper()
	found, err := Compare(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (f folder) side(where ...string) Side {
	side := Side{Name: "A", Store: f.store, Where: map[string]string{}}
	for i := 0; i+1 < len(where); i += 2 {
		side.Where[where[i]] = where[i+1]
	}
	return side
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Three seeds on two backends. The means of B minus A are .1, .2 and .3. Thus the mean is
// .2, the standard deviation .1 and, with the quantile 4.302653 of Student's t for two
// degrees of freedom, the interval .2 +- 4.302653 * .1 / sqrt(3).
func TestCompareByHand(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	a.run(spec("ours", 0), values(1, 2, 7))
	a.run(spec("ours", 1), values(3, 5))
	a.run(spec("ours", 2), values(0, -1))
	b.run(spec("ours", 0, "backend", "xla:cpu", "plugin", "f00"),
		values(1, 2.2)) // 0, .2: mean .1
	b.run(spec("ours", 1, "backend", "xla:cpu", "plugin", "f00"),
		values(2.9, 5.5)) // -.1, .5: mean .2
	b.run(spec("ours", 2, "backend", "xla:cpu", "plugin", "f00"),
		map[int][]runs.Row{1: {{T: 1, Metric: "accuracy", Value: .3}}, 5: {}}) // .3
	found := compare(t, a.side(), b.side())
	if found.RunsA != 3 || found.RunsB != 3 || len(found.Groups) != 1 ||
		len(found.OnlyA)+len(found.OnlyB)+len(found.Problems) != 0 {
		t.Fatalf("found %+v", found)
	}
	g := found.Groups[0]
	if g.Experiment != "toy" || g.Learner != "ours" || fmt.Sprint(g.Seeds) != "[0 1 2]" ||
		fmt.Sprint(g.Settings) != "map[epochs:20]" {
		t.Errorf("group %+v", g)
	}
	if fmt.Sprint(g.A, g.B) != "map[backend:go plugin: protocol:1] map[backend:xla:cpu plugin:f00 protocol:1]" {
		t.Errorf("sides %v, %v", g.A, g.B)
	}
	if g.StepsOnlyA != 2 || g.StepsOnlyB != 1 { // 3 of seed 0 and 2 of seed 2; 5 of seed 2
		t.Errorf("%d steps only in A, %d only in B", g.StepsOnlyA, g.StepsOnlyB)
	}
	if title := found.title(0); title != "toy/ours, backend go -> xla:cpu, plugin (none) -> f00" {
		t.Errorf("title %q", title)
	}
	d := g.Metrics[0]
	near(t, "mean A", d.MeanA, (1.5+4+0)/3)
	near(t, "mean B", d.MeanB, (1.6+4.2+.3)/3)
	near(t, "difference", d.Mean, .2)
	near(t, "low", *d.Low, .2-4.302653*.1/math.Sqrt(3))
	near(t, "high", *d.High, .2+4.302653*.1/math.Sqrt(3))
	near(t, "largest", d.Largest.Absolute, .5)
	if d.Metric != "accuracy" || d.Seeds != 3 || d.Steps != 2 || d.Rows != 5 || d.Identical != 1 || d.Unpaired != 0 ||
		d.Largest.Seed != 1 || d.Largest.T != 2 {
		t.Errorf("difference %+v", d)
	}
}

// Of pairs with equally large differences, the first by seed and step is named.
func TestLargestIsTheFirst(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	for seed := range int64(3) {
		a.run(spec("ours", seed), values(0, 0, 0, 0, 0))
		b.run(spec("ours", seed, "backend", "x"), values(.25, .5, -.5, .5, -.5))
	}
	if got := compare(t, a.side(), b.side()).Groups[0].Metrics[0].Largest; got != (Largest{.5, 0, 2}) {
		t.Errorf("largest %+v", got)
	}
}

// Rows pair by metric and step. Identical means the same bits. A metric of only one side has no
// difference.
func TestCompareRows(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	a.run(spec("ours", 0), map[int][]runs.Row{4: {{T: 4, Metric: "w", Value: 0}, {T: 4, Metric: "x", Value: 1}},
		5: {{T: 5, Metric: "x", Value: 2}}, 6: {{T: 6, Metric: "x", Value: 3}}})
	b.run(spec("ours", 0, "protocol", "2"), map[int][]runs.Row{4: {{T: 4, Metric: "x", Value: 1},
		{T: 4, Metric: "y", Value: 9}, {T: 4, Metric: "w", Value: math.Copysign(0, -1)}},
		5: {{T: 5, Metric: "x", Value: 2.5}}})
	metrics := compare(t, a.side(), b.side()).Groups[0].Metrics
	if len(metrics) != 3 {
		t.Fatalf("metrics %+v", metrics)
	}
	w, x, y := metrics[0], metrics[1], metrics[2]
	if w.Metric != "w" || w.Rows != 1 || w.Identical != 0 || w.Largest.Absolute != 0 || w.Low != nil || w.High != nil {
		t.Errorf("w: %+v", w)
	}
	if x.Metric != "x" || x.Rows != 2 || x.Identical != 1 || x.Unpaired != 0 || x.Mean != .25 || x.MeanA != 1.5 ||
		x.Steps != 2 || x.Largest != (Largest{.5, 0, 5}) {
		t.Errorf("x: %+v", x)
	}
	if y.Metric != "y" || y.Rows != 0 || y.Unpaired != 1 || y.Seeds != 0 {
		t.Errorf("y: %+v", y)
	}
}

// pairing writes the groups of a comparison as "learner seeds freeA>freeB".
func pairing(c *Comparison, name string) string {
	var out []string
	for _, g := range c.Groups {
		out = append(out, fmt.Sprintf("%s%v %s>%s", g.Learner, g.Seeds, g.A[name], g.B[name]))
	}
	return strings.Join(out, "; ")
}

// Who pairs with whom.
func TestPairing(t *testing.T) {
	folderOf := func(specs ...runs.Spec) Side {
		f := newFolder(t)
		for _, s := range specs {
			f.run(s, values(1))
		}
		return f.side()
	}
	backend := func(seed int64, name string) runs.Spec { return spec("ours", seed, "backend", name) }
	checkpoint := func(seed int64, hash string) runs.Spec { return spec("ours", seed, "checkpoint-hash", hash) }
	for _, c := range []struct {
		what         string
		a, b         Side
		free, groups string
		onlyA, onlyB int
	}{
		{"the run itself comes first", folderOf(backend(0, "go"), backend(0, "xla")), folderOf(backend(0, "go")), "backend",
			"ours[0] go>go", 1, 0},
		{"two of the same are two groups", folderOf(backend(0, "go"), backend(0, "xla")),
			folderOf(backend(0, "go"), backend(0, "xla")), "backend", "ours[0] go>go; ours[0] xla>xla", 0, 0},
		{"every partner", folderOf(backend(0, "go"), backend(1, "go")),
			folderOf(backend(0, "x1"), backend(0, "x2"), backend(1, "x2")), "backend", "ours[0] go>x1; ours[0 1] go>x2", 0, 0},
		{"a seed on another backend is another group", folderOf(backend(0, "go"), backend(1, "go")),
			folderOf(backend(0, "go"), backend(1, "xla")), "backend", "ours[0] go>go; ours[1] go>xla", 0, 0},
		{"seeds do not pair", folderOf(backend(0, "go")), folderOf(backend(1, "go")), "backend", "", 1, 1},
		{"settings do not pair", folderOf(spec("ours", 0)),
			folderOf(spec("ours", 0, "epochs", "5"), spec("ours", 0, "clip", "no")), "backend", "", 1, 2},
		{"learners do not pair", folderOf(spec("ours", 0)), folderOf(spec("recent", 0)), "backend", "", 1, 1},
		{"each seed has its checkpoint", folderOf(checkpoint(0, "a"), checkpoint(1, "b")),
			folderOf(checkpoint(0, "c"), checkpoint(1, "b")), "checkpoint-hash", "ours[0 1] >", 0, 0},
		{"two checkpoints of a seed", folderOf(checkpoint(0, "a"), checkpoint(0, "b")), folderOf(checkpoint(0, "c")),
			"checkpoint-hash", "ours[0] a>c; ours[0] b>c", 0, 0},
		{"large seeds keep their order", folderOf(backend(math.MaxInt64, "go"), backend(-5, "go")),
			folderOf(backend(math.MaxInt64, "xla"), backend(-5, "xla")), "backend", "ours[-5 9223372036854775807] go>xla", 0, 0},
	} {
		found := compare(t, c.a, c.b)
		if got := pairing(found, c.free); got != c.groups || len(found.OnlyA) != c.onlyA || len(found.OnlyB) != c.onlyB {
			t.Errorf("%s: %s, only in A %d, only in B %d", c.what, got, len(found.OnlyA), len(found.OnlyB))
		}
	}
	found := compare(t, folderOf(checkpoint(0, "a"), checkpoint(1, "b")),
		folderOf(checkpoint(0, "c"), checkpoint(1, "b"), checkpoint(1, "d")))
	if got := found.Groups[0].Differing["checkpoint-hash"]; len(found.Groups) != 1 || got != 1 || len(found.OnlyB) != 1 {
		t.Errorf("%d seeds have another checkpoint, %+v", got, found)
	}
}

// One folder, two values of a setting: what a filter names need not match.
func TestFilters(t *testing.T) {
	f := newFolder(t)
	for seed := range int64(2) {
		f.run(spec("ours", seed), values(1, 2))
		f.run(spec("ours", seed, "epochs", "5"), values(1, 3))
		f.run(spec("recent", seed), values(0, 0))
	}
	found := compare(t, f.side("epochs", "20"), f.side("epochs", "5"))
	if got := pairing(found, "epochs"); got != "ours[0 1] 20>5" || found.RunsA != 4 || found.RunsB != 2 ||
		len(found.OnlyA) != 2 {
		t.Errorf("epochs: %s, %+v", got, found)
	}
	near(t, "difference", found.Groups[0].Metrics[0].Mean, .5)
	found = compare(t, f.side("learner", "ours", "epochs", "20"), f.side("learner", "recent"))
	if got := pairing(found, "learner"); got != "[0 1] ours>recent" || found.Groups[0].Experiment != "toy" ||
		len(found.OnlyA)+len(found.OnlyB) != 0 {
		t.Errorf("learners: %s, %+v", got, found)
	}
	var out bytes.Buffer
	if err := found.Print(&out, false); err != nil || !strings.HasPrefix(out.String(), "toy/ours -> recent: 2 seeds\n") {
		t.Errorf("%v, printed\n%s", err, &out)
	}
	five := newFolder(t)
	five.run(spec("ours", 0, "epochs", "5"), values(1))
	twenty := newFolder(t)
	twenty.run(spec("ours", 0), values(1))
	for _, found := range []*Comparison{compare(t, twenty.side(), five.side("epochs", "5")),
		compare(t, twenty.side("epochs", "20"), five.side())} {
		if got := pairing(found, "epochs"); got != "ours[0] 20>5" {
			t.Errorf("a filter on one side: %s", got)
		}
	}
	for _, c := range []struct{ name, value, names, values string }{
		{"epochs", "21", "[backend epochs experiment learner plugin protocol]", "[20 5]"},
		{"epohcs", "20", "[backend epochs experiment learner plugin protocol]", "[]"},
		{"learner", "our", "[backend epochs experiment learner plugin protocol]", "[ours recent]"},
	} {
		_, err := Compare(t.Context(), f.side(c.name, c.value), f.side())
		demand.Error(t, err, "no run of A has "+c.name+"="+c.value)
		var filter *FilterError
		if !errors.As(err, &filter) || fmt.Sprint(filter.Names) != c.names || fmt.Sprint(filter.Values) != c.values {
			t.Errorf("%v: names %v, values %v", err, filter.Names, filter.Values)
		}
	}
}

// A damaged file is named once, however many pairs need it, and the rest is compared.
func TestCompareDamagedFolders(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	for seed := range int64(3) {
		a.run(spec("ours", seed), values(1))
		b.run(spec("ours", seed, "backend", "x1"), values(2))
		b.run(spec("ours", seed, "backend", "x2"), values(2))
	}
	a.run(spec("recent", 0), values(1))
	b.run(spec("recent", 0), values(1))
	b.damage(spec("recent", 0), true)
	a.damage(spec("ours", 0), true)
	b.damage(spec("ours", 1, "backend", "x1"), false)
	before := [2]map[string]string{a.files(), b.files()}
	found := compare(t, a.side(), b.side())
	if got := pairing(found, "backend"); got != "ours[2] go>x1; ours[1 2] go>x2" || len(found.Problems) != 3 {
		t.Errorf("%s, problems %v", got, found.Problems)
	}
	named := fmt.Sprint(found.Problems)
	if !strings.Contains(named, a.path(spec("ours", 0))+" is damaged") ||
		!strings.Contains(named, b.path(spec("ours", 1, "backend", "x1"))+" is damaged") {
		t.Errorf("problems %s", named)
	}
	if fmt.Sprint(before) != fmt.Sprint([2]map[string]string{a.files(), b.files()}) {
		t.Error("a folder was changed")
	}
}

func TestPrint(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	for seed := range int64(2) {
		a.run(spec("ours", seed, "checkpoint-hash", "a"), values(.5, 2))
		b.run(spec("ours", seed, "backend", "x", "checkpoint-hash", fmt.Sprint(seed)), values(.5, 2+.25*float64(seed+1), 3))
	}
	a.run(spec("ours", 7, "epochs", "5"), values(1))
	b.run(spec("ours", 7, "epochs", "5"), values(1))
	a.run(spec("recent", 0), values(1))
	b.run(spec("recent", 0, "epochs", "5", "clip", "no"), values(1))
	b.run(spec("recent", 3, "epochs", "6", "backend", "x"), values(1))
	found := compare(t, a.side(), b.side())
	var out bytes.Buffer
	if err := found.Print(&out, false); err != nil {
		t.Fatal(err)
	}
	// Means over steps of B minus A: .125 and .25; half of the interval 12.7062 * .0883883 / sqrt(2).
	want := `toy/ours, backend go -> x, epochs 20: 2 seeds, checkpoint-hash differs at 2 seeds, 2 steps only in B
  metric    mean A  mean B  B minus A  95% interval     largest            identical    steps  seeds
  accuracy  1.25    1.4375  +0.188     [-0.607, +0.982]  0.5 (seed 1, t 2)  2 of 4 rows  2      2

toy/ours, backend go, epochs 5: 1 seed
  metric    mean A  mean B  B minus A  95% interval     largest  identical   steps  seeds
  accuracy  1       1       0          none (one seed)  0        1 of 1 row  1      1

Only in A: 1 run (toy/recent 1)
Only in B: 2 runs (toy/recent 2)
`
	squeeze := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
	}
	if squeeze(out.String()) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	out.Reset()
	if err := found.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	for _, s := range []runs.Spec{spec("recent", 0), spec("recent", 3, "epochs", "6", "backend", "x")} {
		if !strings.Contains(squeeze(out.String()),
			fmt.Sprintf("toy/recent seed %d %s %s\n", s.Seed, s.ID(), canonical(s.Settings))) {
			t.Errorf("the list lacks %s:\n%s", s, &out)
		}
	}
	if got, want := found.Nearest(), "toy/recent: clip (none) -> no, epochs 20 -> 5"; got != want {
		t.Errorf("nearest %q", got)
	}
}

func TestNearest(t *testing.T) {
	run := func(s runs.Spec) Run { return named(s) }
	c := Comparison{
		OnlyA: []Run{run(spec("ours", 0)), run(spec("recent", 0))},
		OnlyB: []Run{run(spec("ours", 1, "epochs", "5", "backend", "x")), run(spec("ours", 0, "epochs", "9", "clip", "no")),
			run(spec("exact", 0)), run(spec("ours", 0, "epochs", "7", "plugin", "y"))},
	}
	if got, want := c.Nearest(), "toy/ours: epochs 20 -> 7"; got != want {
		t.Errorf("nearest %q, want %q", got, want)
	}
	c.OnlyA = c.OnlyA[1:]
	if got := c.Nearest(); got != "" {
		t.Errorf("nearest %q", got)
	}
}

func TestCompareAsJSON(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	a.run(spec("ours", 0), values(1))
	b.run(spec("ours", 0), values(1))
	b.run(spec("ours", 1), values(1))
	text, err := json.Marshal(compare(t, a.side(), b.side()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"runs_a":1,"runs_b":2,"groups":[{"experiment":"toy","learner":"ours","settings":{"epochs":"20"},` +
		`"a":{"backend":"go","plugin":"","protocol":"1"},"b":{"backend":"go","plugin":"","protocol":"1"},"seeds":[0],"steps_only_a":0,"steps_only_b":0,` +
		`"metrics":[{"metric":"accuracy","mean_a":1,"mean_b":1,"difference":0,"low":null,"high":null,"seeds":1,"steps":1,"rows":1,"identical":1,"unpaired":0,` +
		`"largest":{"absolute":0,"seed":0,"t":0}}]}],"only_a":[],"only_b":[{"experiment":"toy","learner":"ours","seed":1,"run":"` + spec("ours", 1).ID() + `",` +
		`"settings":{"backend":"go","epochs":"20","plugin":"","protocol":"1"}}]}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// Runs without a step in common are a group without metrics.
func TestCompareWithoutCommonSteps(t *testing.T) {
	a, b := newFolder(t), newFolder(t)
	a.run(spec("ours", 0), map[int][]runs.Row{1: {{T: 1, Metric: "accuracy", Value: 1}}})
	b.run(spec("ours", 0), map[int][]runs.Row{2: {{T: 2, Metric: "accuracy", Value: 1}}})
	found := compare(t, a.side(), b.side())
	if g := found.Groups[0]; g.Metrics == nil || len(g.Metrics) != 0 || g.StepsOnlyA != 1 || g.StepsOnlyB != 1 {
		t.Errorf("group %+v", g)
	}
}

func TestCompareInterrupted(t *testing.T) {
	f := newFolder(t)
	f.run(spec("ours", 0), values(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, f.side(), f.side()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
