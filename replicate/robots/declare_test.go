package robots

import (
	"context"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/env"
	"tvps/figures/looks"
	"tvps/replicate/experiment"
)

// A learner is one declaration.
func TestDeclaredLearner(t *testing.T) {
	before := learners
	defer func() { learners = before }()
	Declare(Learner{Look: looks.Look{Name: "test-omega", Label: "Test", Color: "#123456"}, Omega: true})
	h, s := carts(t), miniature()
	s.Episodes = 4
	if !slices.Contains(Protocol.Learners(), "test-omega") {
		t.Errorf("learners %v", Protocol.Learners())
	}
	if look := looks.Of("test-omega"); look.Label != "Test" {
		t.Errorf("look %+v", look)
	}
	want := run(t, h, open(t), s, "sac-omega", 0)
	if got := run(t, h, open(t), s, "test-omega", 0); !reflect.DeepEqual(got, want) {
		t.Errorf("rows %v, want those of sac-omega %v", got, want)
	}
	jobs, err := s.Jobs(h, []string{"sac", "sac-omega", "test-omega"}, []int64{0}, MeasureReturn)
	if err != nil || jobs[1].Cost(0) <= jobs[0].Cost(0) || jobs[2].Cost(0) != jobs[1].Cost(0) {
		t.Errorf("omega takes no time: %+v, %v", jobs, err)
	}
	if notes := s.Notes(experiment.Source{}, []string{"test-omega"}, ""); !strings.HasPrefix(notes[len(notes)-1], "g: ") {
		t.Errorf("notes %q", notes)
	}
}

// reaching is a cart that has always reached its target.
type reaching struct{ cart }

func (reaching) Success() bool { return true }

// A scenario is one declaration: its parts are in the identity, its note in the notes, its success in the rows.
func TestDeclaredScenario(t *testing.T) {
	h := carts(t)
	before := scenarios
	defer func() { scenarios = before }()
	DeclareScenario(Scenario{
		Name:    "test-reach",
		New:     func(context.Context, Settings, int64, io.Writer) (env.Env, error) { return &reaching{}, nil },
		Scales:  experiment.ByScale[Settings]{experiment.Tiny: clawPaper.with(robotTiny)},
		Parts:   []string{"claw"},
		Success: true,
		Note:    func(Settings) string { return "One place." },
	})
	s := miniature()
	s.Scenario, s.Episodes = "test-reach", 4
	rows := run(t, h, open(t), s, "sac", 0)[0]
	if got := ofMetric(rows, success); len(got) != 1 || got[0].Value != 1 {
		t.Errorf("rows %v", rows)
	}
	demand.Equal(t, jobs(t, h, s, "sac", 0)[0].Spec.Settings["repeat"], "2", "repeat")
	if notes := s.Notes(experiment.Source{}, []string{"sac"}, ""); len(notes) != 2 || notes[1] != "One place." {
		t.Errorf("notes %q", notes)
	}
	setup, err := At("test-reach", experiment.Tiny)
	if err != nil || setup.Length() != 24 {
		t.Errorf("%+v, %v", setup, err)
	}
	_, err = At("test-reach", experiment.Paper)
	demand.Error(t, err, "no scale paper here")
}

// The meaning of a setting names every value that it may take.
func TestMeaningsNameChoices(t *testing.T) {
	choices := rules().Choices
	delete(choices, "scenario")
	for _, f := range (Settings{}).Fields() {
		demand.Words(t, f.Doc, choices[f.Name]...)
	}
}

// A scenario or scale that does not exist is named; that all which exist are valid is TestCatalog of lab.
func TestNoSuchScale(t *testing.T) {
	for _, c := range []struct {
		scenario, scale string
		words           []string
	}{
		{"cheta", "tiny", []string{`no scenario "cheta"`, `did you mean "cheetah"`}},
		{"halfcheetah", "tiny", []string{"halfcheetah", "no scale"}},
		{"claw", "papr", []string{`no scale "papr"`, `did you mean "paper"`}},
	} {
		s, err := At(c.scenario, experiment.Scale(c.scale))
		if demand.Error(t, err, c.words...); s != nil {
			t.Errorf("%s, %s: settings with an error", c.scenario, c.scale)
		}
	}
}

// A panel's size has the number of valves, where there are some, and the width of the networks.
func TestSize(t *testing.T) {
	for scenario, want := range map[string]string{"claw": "3 of 10 valves, 128 units", "cheetah": "128 units"} {
		s, err := At(scenario, experiment.Small)
		demand.NoError(t, err)
		demand.Equal(t, s.(experiment.Sized).Size(), want, "%s", scenario)
	}
}

// The notes say what a panel was made from: what g is if a learner has omega, which episodes are evaluated, and what
// the scenario adds.
func TestNotes(t *testing.T) {
	s, err := At("claw", experiment.Paper)
	demand.NoError(t, err)
	for _, c := range []struct{ set, series, want string }{
		{"", "sac", "every 100 episodes"}, {"", "sac", "10 valves, each 2 times"}, {"", "sac-context-omega", "g: 4 layers"},
		{"evaluate=coming", "sac", "on the 5 coming ones"}, {"valves=1", "sac", "One valve"},
	} {
		setup, err := experiment.Apply(s, strings.Fields(c.set))
		demand.NoError(t, err)
		notes := strings.Join(setup.Notes(experiment.Source{}, []string{c.series}, ""), " ")
		if !strings.Contains(notes, c.want) || strings.Contains(notes, "g: ") != (c.series != "sac") {
			t.Errorf("%s, %s: %s", c.set, c.series, notes)
		}
	}
}

func TestErrors(t *testing.T) {
	h, s := carts(t), miniature()
	for _, c := range []struct {
		name, value string
		words       []string
	}{
		{"every", "17", []string{"every=17", "16 episodes"}}, {"valves", "11", []string{"valves=11", "10"}},
		{"scenario", "cheeta", []string{`did you mean "cheetah"`}},
		{"g-layers", "1", []string{"omega layers"}}, {"g-network", "conv5", []string{"g-network", "deep, fc3, mlp"}}, {"gamma", "2", []string{"gamma"}}, {"batch", "0", []string{"batch=0"}},
		{"evaluate", "all", []string{"tasks", "coming"}},
		{"replay", "4194305", []string{"replay=4194305", "at most 4194304"}}, {"tau", "1.1", []string{"at most 1"}},
		{"evaluate-episodes", "10001", []string{"at most 10000"}}, {"episodes", "10000001", []string{"at most 10000000"}},
	} {
		bad, err := s.With(c.name, c.value)
		if err == nil {
			_, err = bad.Jobs(h, []string{"sac"}, []int64{0}, "")
		} else if bad != nil {
			t.Errorf("%s=%s: settings with an error", c.name, c.value)
		}
		demand.Error(t, err, c.words...)
	}
	_, err := s.Jobs(h, []string{"sac-omge"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `did you mean "sac-omega"`)
	_, err = s.Jobs(h, []string{"constant"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `"constant"`, "cheetah", "cart")
	_, err = s.Jobs(h, []string{"sac"}, []int64{0}, "accuracy")
	demand.Error(t, err, "accuracy", "return")
}

// TestBounds: every number has bounds that refuse what no machine can compute and what makes no sense.
func TestBounds(t *testing.T) {
	for _, f := range miniature().Fields() {
		if _, err := strconv.ParseFloat(f.Value, 64); err != nil {
			continue
		}
		for _, value := range []string{"-1", "100000001", strconv.Itoa(math.MaxInt), "1e400", "NaN"} {
			if _, err := miniature().With(f.Name, value); err == nil {
				t.Errorf("%s=%s is accepted", f.Name, value)
			} else {
				demand.Error(t, err, "setting "+f.Name)
			}
		}
	}
}

// TestNewSettingsInIdentity: settings that are younger than stored runs are part of a run's identity unless they have
// the value that those runs were made with: the number of XLA's threads, on which rounding depends, and the network of
// g. References use no backend, and SAC alone has no g.
func TestNewSettingsInIdentity(t *testing.T) {
	for _, c := range []struct{ series, name, value, want string }{
		{"sac", "threads", "0", ""}, {"sac", "threads", "1", "1"}, {"nothing", "threads", "1", ""},
		{"sac-omega", "g-network", "deep", ""}, {"sac-omega", "g-network", "fc3", "fc3"}, {"sac", "g-network", "fc3", ""},
	} {
		s, err := miniature().With(c.name, c.value)
		demand.NoError(t, err)
		outlines, err := s.Outlines([]string{c.series}, MeasureReturn)
		demand.NoError(t, err)
		demand.Equal(t, outlines[0].Settings[c.name], c.want, "%s with %s=%s, in the identity", c.series, c.name, c.value)
	}
}
