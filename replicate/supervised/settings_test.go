package supervised

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

func TestFieldsAreComplete(t *testing.T) {
	fields := gaussianSettings().Fields()
	demand.Equal(t, len(fields), reflect.TypeOf(Settings{}).NumField(), "fields")
	groups := []string{"stream", "gaussian", "shift", "clear", "score", "mmd", "classifier", "vector", "head", "finetune",
		"omega", "clip", "plan"}
	seen := map[string]bool{}
	for _, f := range fields {
		if f.Name == "" || f.Doc == "" || seen[f.Name] {
			t.Errorf("the field %+v has no name, no meaning or the name of another one", f)
		}
		seen[f.Name] = true
		if !slices.Contains(groups, f.Of) {
			t.Errorf("%s is of the unknown group %q", f.Name, f.Of)
		}
		demand.Words(t, f.Doc, choices[f.Name]...)
	}
	for name := range rules().Choices {
		if !seen[name] {
			t.Errorf("choices for %q, which is not a setting", name)
		}
	}
	for name := range minimum {
		if !seen[name] {
			t.Errorf("a minimum for %q, which is not a setting", name)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   Settings
		change func(*Settings)
		word   string
	}{
		{"head on the Gaussian", gaussianSettings(), func(s *Settings) { s.Network = "head" },
			"does not fit scenario gaussian"},
		{"mlp on images", imageSettings(), func(s *Settings) { s.Network = "mlp" }, "does not fit scenario cifar10b"},
		{"conv5 on features", imageSettings(), func(s *Settings) { s.GNetwork = "conv5" }, "g-input=pixels"},
		{"first after the end", gaussianSettings(), func(s *Settings) { s.First = 5 }, "first=5"},
		{"no test draws", gaussianSettings(), func(s *Settings) { s.TestN = 0 }, "test-n=0"},
		{"too many samples", gaussianSettings(), func(s *Settings) { s.Steps, s.N = 100_000, 1_000_000 },
			"more than 100000000"},
		{"Winograd's stride", imageSettings(), func(s *Settings) { s.Block, s.Convolution = "stage", winograd },
			"block=basic"},
		{"period without amplitude", gaussianSettings(), func(s *Settings) { s.Period = 10 }, "period=10 amplitude=0"},
		{"missing number", gaussianSettings(), func(s *Settings) { s.Epochs = 0 }, "epochs=0"},
	} {
		c.change(&c.base)
		demand.Error(t, c.base.Validate(), c.word)
	}
	for _, s := range []Settings{gaussianSettings(), imageSettings()} {
		demand.NoError(t, s.Validate())
	}
}

// others returns copies of the settings with other valid values of one setting.
func (s Settings) others(t *testing.T, name string) []Settings {
	t.Helper()
	var out []Settings
	for _, f := range s.Fields() {
		if f.Name != name {
			continue
		}
		for _, value := range append(slices.Clone(rules().Choices[name]), "7", "11", "true", "false", "0.007") {
			if other, err := s.With(name, value); value != f.Value && err == nil {
				out = append(out, other.(Settings))
			}
		}
	}
	if len(out) == 0 && len(rules().Choices[name]) != 1 {
		t.Fatalf("no other value of %s", name)
	}
	return out
}

// TestIdentity: a setting is part of the identity of exactly those runs whose numbers it can change.
func TestIdentity(t *testing.T) {
	all := []string{"everything", "recent", "finetune", "ours", "mixture", "standard", "exact", "exact-mixture", "pretrained",
		"metaweightnet", "age-2", "age-5", "age-15", "age-50", "last-2", "last-5", "last-15", "last-50"}
	names := append([]string{"method1", "method2"}, all...)
	weighted := []string{"ours", "mixture", "standard"}
	changes := map[string][]string{
		"finetune-epochs": {"finetune"}, "clip": append([]string{"exact", "exact-mixture", "age-2", "age-5", "age-15", "age-50"}, weighted...),
		"stride": nil, "first": nil,
		"method": weighted, "g-network": weighted, "g-input": weighted, "g-hidden": weighted, "g-label": weighted,
		"g-time": weighted, "g-join": weighted, "g-start": weighted, "g-schedule": weighted, "g-frequencies": weighted, "g-rate": weighted,
		"g-updates": weighted, "g-batch": weighted, "g-epochs": weighted, "window": weighted,
		"target": nil, "mmd-past": nil, "mmd-samples": nil, "permutations": nil, "features": nil, // of other measures and scenarios
	}
	ofGaussian := []string{"turn", "period", "amplitude", "hidden"}
	ofImages := []string{"data", "images", "reading", "evaluate", "width", "checkpoint", "start", "block", "batch-norm",
		"convolution"}
	if got := Learners(); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Fatalf("the learners are %v: name a new one here, and in changes for each setting that it reads", got)
	}
	for _, base := range []Settings{gaussianSettings(), imageSettings()} {
		for _, f := range base.Fields() {
			want, special := changes[f.Name]
			if !special {
				want = all
			}
			foreign := ofImages
			if base.Network == "head" {
				foreign = ofGaussian
			}
			if slices.Contains(foreign, f.Name) {
				want = nil
			}
			for _, other := range base.others(t, f.Name) {
				for _, learner := range all {
					same := maps.Equal(identityOf(t, base, learner), identityOf(t, other, learner))
					if should := !slices.Contains(want, learner); same != should {
						t.Errorf("%s %s: the run of %s stays the same: %v, want %v", f.Name, f.Value, learner, same, should)
					}
				}
			}
		}
	}
}

// identityOf returns the settings that are part of the identity of a learner's run.
func identityOf(t *testing.T, s Settings, learner string) map[string]string {
	t.Helper()
	m, err := measureOf("")
	demand.NoError(t, err)
	return config{settings: s, learner: named(learner), measure: m}.identity()
}

// specOf returns the identity of a run.
func specOf(h *experiment.Host, s Settings, learner string, seed int64) (runs.Spec, error) {
	x, err := s.config(learner, "")
	if err != nil {
		return runs.Spec{}, err
	}
	return x.on(h).spec(seed)
}

// A run's identity contains the backend, the version and, for images, data and checkpoint.
func TestSpec(t *testing.T) {
	h := newHost(t, "go")
	spec, err := specOf(h, gaussianSettings(), "exact", 0)
	want := identityOf(t, gaussianSettings(), "exact")
	maps.Copy(want, map[string]string{"backend": "go", "plugin": "", "protocol": version})
	if err != nil || !maps.Equal(spec.Settings, want) {
		t.Errorf("%v, want %v; %v", spec.Settings, want, err)
	}
	s := imageSettings()
	s.Data, s.Width, s.Images, s.TestN = "sample", 16, 100, 50
	spec, err = specOf(h, s, "exact", 3)
	if id := spec.Settings; err != nil || id["data"] != "sample" || len(id["checkpoint-hash"]) != 16 {
		t.Errorf("%v, %v", id, err)
	}
	s.Checkpoint = "split"
	_, err = specOf(h, s, "exact", 3)
	demand.Error(t, err, "width 16 for split 3", "replicate pretrain")
}

// TestIdentityOfFeatures: runs that train no network of images, as scores and CLEAR's stand-in, name the network of
// their features where it is another one than runs had at first.
func TestIdentityOfFeatures(t *testing.T) {
	for scenario, measure := range map[string]string{"cifar10b": measureScore, "clear": measureAccuracy} {
		for _, c := range []struct{ name, was, other string }{{"width", "16", "64"}, {"checkpoint", "committed", "split"}} {
			for _, value := range []string{c.was, c.other} {
				setup, err := At(scenario, experiment.Small)
				demand.NoError(t, err)
				setup, err = setup.With(c.name, value)
				demand.NoError(t, err)
				outlines, err := setup.Outlines([]string{"ours"}, measure)
				demand.NoError(t, err)
				if got, named := outlines[0].Settings[c.name]; named != (value == c.other) || named && got != value {
					t.Errorf("%s with %s=%s: %q", scenario, c.name, value, got)
				}
			}
		}
	}
}

// TestProtocolNumber: only runs whose numbers changed have the second number, so all others stay stored.
func TestProtocolNumber(t *testing.T) {
	for _, c := range []struct {
		settings        Settings
		series, measure string
		want            string
	}{
		{gaussianSettings(), "ours", "", "1"}, {gaussianSettings(), "method1", measureScore, "1"},
		{imageSettings(), "finetune", "", "1"}, {imageSettings(), "exact", "", "1"},
		{imageSettings(), "method1", "", "2"}, {imageSettings(), "standard", "", "2"},
		{imageSettings(), "raw", measureMMD, "1"}, {imageSettings(), "ours", measureMMD, "2"},
		{standInSettings(), "ours", "", "2"}, {standInSettings(), "metaweightnet", "", "1"},
	} {
		out, err := c.settings.Outlines([]string{c.series}, c.measure)
		demand.NoError(t, err)
		demand.Equal(t, out[0].Settings["protocol"], c.want, "%s/%s %s", c.settings.Scenario, c.series, c.measure)
	}
}

// With a limit on the images, the library holds as many, equally many of each class.
func TestLimitOfImages(t *testing.T) {
	s := imageSettings()
	s.Data, s.Images, s.TestN = "sample", 100, 50
	data, err := libraryOf(newHost(t, "go")).cifar10(s, false)
	demand.NoError(t, err)
	if train, test := data.Train.Len(), data.Test.Len(); train != 100 || test != 50 {
		t.Errorf("%d training and %d test images, want 100 and 50", train, test)
	}
	for class, rows := range data.Train.ByClass() {
		demand.Equal(t, len(rows), 10, "images of class %d", class)
	}
}

// What is said about the sample before it is decoded is what is said of its images.
func TestSourceOfSample(t *testing.T) {
	l := libraryOf(newHost(t, "go"))
	for _, images := range []int{0, 5, 123, 9000} {
		for _, standIn := range []bool{false, true} {
			s := imageSettings()
			s.Data, s.Images, s.TestN = "sample", images, 2*images
			data, err := l.cifar10(s, standIn)
			demand.NoError(t, err)
			if got, err := l.source(s, standIn); err != nil || got != data.Source {
				t.Errorf("%d images, stand-in %t: %+v, %v, want %+v", images, standIn, got, err, data.Source)
			}
		}
	}
}

func TestCheckSeries(t *testing.T) {
	demand.Error(t, gaussianSettings().CheckSeries("our", ""), `"our"`, `did you mean "ours"`)
	demand.Error(t, gaussianSettings().CheckSeries("pretrained", ""), "gaussian has none")
	demand.Error(t, imageSettings().CheckSeries("metaweightnet", ""), "cifar10b takes ResNet-18")
	for _, name := range Learners() {
		if name == "metaweightnet" {
			continue
		}
		demand.NoError(t, imageSettings().CheckSeries(name, ""))
		if cost := costOf(t, imageSettings(), name); !(cost > 0) {
			t.Errorf("the cost of %s is %v", name, cost)
		}
	}
}

// The estimate includes the work of g, given in minibatches or in epochs. An epoch is N * steps / (2 * batch of g)
// minibatches.
func TestCostOfG(t *testing.T) {
	updates := imageSettings()
	updates.N, updates.Steps, updates.GBatch, updates.GEpochs, updates.GUpdates = 512, 20, 512, 0, 70
	epochs := updates
	epochs.GEpochs, epochs.GUpdates = 7, 1
	if a, b := costOf(t, updates, "ours"), costOf(t, epochs, "ours"); a != b {
		t.Errorf("70 minibatches cost %v, 7 epochs of 10 minibatches %v", a, b)
	}
	everything, ours := costOf(t, epochs, "everything"), costOf(t, epochs, "ours")
	if everything != costOf(t, updates, "everything") || ours != everything+4*70 {
		t.Errorf("everything costs %v, ours %v", everything, ours)
	}
}

// costOf is the estimated work of a step of a series.
func costOf(t *testing.T, s Settings, series string) float64 {
	t.Helper()
	l, s := resolve(series, s)
	return l.cost(s)
}

// TestSeries: a measure takes the learners whose declarations fit it, and series that are declared for it alone.
func TestSeries(t *testing.T) {
	weighing := []string{"age-15", "age-2", "age-5", "age-50", "exact", "exact-mixture", "method1", "method2", "mixture", "ours", "standard"}
	for measure, want := range map[string][]string{
		"":           Learners(),
		measureScore: weighing,
		measureMMD:   slices.Insert(slices.Clone(weighing), len(weighing)-1, "raw"),
		measureMean:  {"data"},
	} {
		m, err := measureOf(measure)
		if err != nil || !slices.Equal(m.series(), want) {
			t.Errorf("%q takes %v, want %v; %v", measure, m.series(), want, err)
		}
	}
	demand.Error(t, gaussianSettings().CheckSeries("ours", "entropy"), `no measure "entropy"`)
	demand.Error(t, gaussianSettings().CheckSeries("raw", ""), `no learner "raw" with a measure of accuracy`)
	demand.Error(t, gaussianSettings().CheckSeries("everything", measureScore), strings.Join(weighing, ", "))
}

// TestVariants: method1 and method2 are Ours under a fixed setting, with the same runs.
func TestVariants(t *testing.T) {
	s := gaussianSettings()
	for series, method := range map[string]propensity.Method{"method1": "method1", "method2": "method2", "ours": s.Method} {
		l, changed := resolve(series, s)
		if l.Name != "ours" || changed.Method != method {
			t.Errorf("%s is %s under method=%s", series, l.Name, changed.Method)
		}
	}
}

// TestNotes: the notes say what differs from one scenario and measure to another.
func TestNotes(t *testing.T) {
	h := newHost(t, "go")
	var setup experiment.Setup = gaussianSettings()
	want := []string{
		"N = 40 samples a step, 5 epochs (at most 30 minibatches of 16), every single step of 5, clip min1, method2.",
		"g: mlp of width 8, onehot time, 20 minibatches of 32 at rate 0.003.",
	}
	demand.List(t, setup.Notes(setup.Source(h), []string{"ours"}, ""), want, "notes")
	want = []string{"N = 40 samples a step, 5 steps, clip min1."}
	demand.List(t, setup.Notes(setup.Source(h), []string{"data"}, measureMean), want, "notes")
	s := imageSettings()
	s.Data, s.Stride, s.GEpochs = "sample", 3, 2
	notes := s.Notes(s.Source(h), nil, measureAccuracy)
	want = []string{"every 3rd step of 7", "2 epochs of 32", "stride", s.Source(h).Note, "starts from the pre-trained",
		"One checkpoint"}
	for i, words := range want {
		if len(notes) != len(want) || !strings.Contains(notes[i], words) {
			t.Fatalf("note %d of %q lacks %q", i, notes, words)
		}
	}
}

// TestScenarioSeesItsSettings: a scenario cannot read a setting that is not in the identity of its runs: with another
// value, it would be given stored runs of the old one.
func TestScenarioSeesItsSettings(t *testing.T) {
	before := scenarios
	t.Cleanup(func() { scenarios = before })
	var seen Settings
	open := func(_ *experiment.Host, s Settings) Source {
		seen = s
		return Simulated{Settings: s}
	}
	DeclareScenario(Scenario{Name: "none", Open: open})
	DeclareScenario(Scenario{Name: "waves", Groups: []string{"gaussian"}, Open: open})
	s := gaussianSettings()
	s.Amplitude, s.Reading = 3, "equation"
	for name, amplitude := range map[string]float64{"none": 0, "waves": 3} {
		s.Scenario = name
		s.open(nil)
		if seen.Amplitude != amplitude || seen.Reading != "" || seen.Steps != s.Steps || seen.Rate != s.Rate {
			t.Errorf("%s reads %+v", name, seen)
		}
	}
}
