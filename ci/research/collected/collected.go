// Package collected compares the learners of the paper on data sets that drift by themselves: samples that were
// collected in steps, in a folder that an environment variable names.
package collected

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"tvps/ci/research/study"
	"tvps/data/random"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/supervised"

	"github.com/gomlx/gomlx/core/tensors"
)

// scenarios are the declared ones.
var scenarios = []supervised.Scenario{
	declare("gas", "TVPS_GAS", 10, func(s *supervised.Settings) { s.Hidden = 64 }),
	declare("yearbook", "TVPS_YEARBOOK", 84, func(s *supervised.Settings) { s.Hidden = 128 }),
}

// Tables declares the tables of the scenarios.
func Tables() []study.Table {
	table := func(scenario, title string) study.Table {
		series := []string{"everything", "recent", "finetune", "ours", "standard"}
		return study.Table{Panel: paper.Panel{Key: scenario, Title: title, Scenario: scenario, Series: series}}
	}
	return []study.Table{table(scenarios[0].Name, "UCI gas sensor array drift"), table(scenarios[1].Name, "Yearbook")}
}

// declare declares the stream of a data set of so many steps. Its samples are drawn from each step's own rows: no shift
// is made.
func declare(name, variable string, number int, change func(s *supervised.Settings)) supervised.Scenario {
	paper := supervised.ScalesOf("clear", change)[experiment.Paper]
	paper.Scenario, paper.Steps, paper.Evaluate, paper.Network = name, number-1, "draw", "mlp"
	paper.FinetuneEpochs = paper.Epochs
	small := paper
	small.MaxUpdates, small.GRate, small.GSchedule, small.GEpochs = 1000, 3e-3, propensity.ScheduleCosine, 0
	tiny := small
	tiny.N, tiny.MaxUpdates, tiny.GUpdates, tiny.Steps = 50, 100, 150, 3
	return supervised.DeclareScenario(supervised.Scenario{
		Name: name, Networks: []string{"linear", "mlp"},
		Data: func(supervised.Settings) []experiment.Data {
			return []experiment.Data{{Experiment: name, Name: name + ":"}}
		},
		Open: func(_ *experiment.Host, s supervised.Settings) supervised.Source { return source{s, variable} },
		Scales: experiment.ByScale[supervised.Settings]{
			experiment.Paper: paper, experiment.Small: small, experiment.Tiny: tiny},
	})
}

// read holds the data sets that were read, by folder.
var read = struct {
	sync.Mutex
	sets map[string]*dataSet
}{sets: map[string]*dataSet{}}

// source is a data set that was collected in steps.
type source struct {
	settings supervised.Settings
	variable string // of the environment
}

// load reads the data set. Errors: it is not there, damaged, or has fewer steps than the settings.
func (src source) load() (*dataSet, error) {
	dir := os.Getenv(src.variable)
	if dir == "" {
		return nil, fmt.Errorf("scenario %s needs its data set, which is not part of this repository: get it as "+
			"ci/research/README.md says, and set %s to its folder", src.settings.Scenario, src.variable)
	}
	read.Lock()
	defer read.Unlock()
	set := read.sets[dir]
	if set == nil {
		var err error
		if set, err = load(dir); err != nil {
			return nil, err
		}
		read.sets[dir] = set
	}
	if src.settings.Steps >= set.steps() {
		return nil, fmt.Errorf("%s has %d steps, of which the last is only tested on: set steps=%d or less", dir,
			set.steps(), set.steps()-1)
	}
	return set, nil
}

// About names the files.
func (src source) About() experiment.Source {
	set, err := src.load()
	if err != nil {
		return experiment.Source{}
	}
	note := fmt.Sprintf("%d rows of %d values in %d steps, %s to %s", len(set.Label), set.Dim, set.steps(), set.Names[0],
		set.Names[set.steps()-1])
	return experiment.Source{Note: note}
}

// Identity is the hash of the files.
func (src source) Identity(int64) (map[string]string, error) {
	set, err := src.load()
	if err != nil {
		return nil, err
	}
	return map[string]string{"data": src.settings.Scenario + ":" + set.SHA256[:16]}, nil
}

// validation is the number of validation samples of a step, as in other scenarios.
const validation = 200

// Stream draws the samples of a seed: of each step's rows, in an order of the seed, up to a tenth for validation, then
// N to train, at most half of all, then up to TestN of the others to test (0 for all).
func (src source) Stream(_ context.Context, _ *supervised.Engine, seed int64) (*supervised.Stream, error) {
	set, err := src.load()
	if err != nil {
		return nil, err
	}
	s := src.settings
	const held, train, test = 0, 1, 2
	part := func(which int) func(t int) supervised.Samples {
		return func(t int) supervised.Samples {
			n := set.First[t+1] - set.First[t]
			ends := []int{0, min(validation, n/10), 0, n}
			if ends[2] = ends[1] + min(s.N, n/2); s.TestN > 0 {
				ends[3] = min(ends[2]+s.TestN, n)
			}
			var out supervised.Samples
			for _, i := range random.New(seed, "steps", t).Perm(n)[ends[which]:ends[which+1]] {
				row := set.First[t] + i
				out.Row, out.Label = append(out.Row, int32(row)), append(out.Label, set.Label[row])
			}
			return out
		}
	}
	pool := tensors.FromFlatDataAndDimensions(set.X, len(set.Label), set.Dim)
	ofG := &propensity.Pool{X: pool, Mean: make([]float32, set.Dim), Scale: slices.Repeat([]float32{1}, set.Dim)}
	return &supervised.Stream{
		Classes: set.classes(), Pool: pool, X: set.X, GPool: ofG, ValidationX: pool,
		Train: part(train), Test: part(test), Validation: part(held),
		InputOfG: func(row int32) []float32 { return set.X[int(row)*set.Dim : int(row+1)*set.Dim] },
	}, nil
}
