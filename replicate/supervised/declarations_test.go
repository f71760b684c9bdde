package supervised

import (
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
)

// TestSeries: a measure takes the learners whose declarations fit it, and series that are declared for it alone.
func TestSeries(t *testing.T) {
	weighing := []string{"exact", "exact-mixture", "method1", "method2", "mixture", "ours", "standard"}
	for measure, want := range map[string][]string{
		"":           Learners(),
		measureScore: weighing,
		measureMMD:   {"exact", "exact-mixture", "method1", "method2", "mixture", "ours", "raw", "standard"},
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
