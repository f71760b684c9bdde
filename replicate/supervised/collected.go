package supervised

import (
	"context"
	"fmt"
	"os"

	"tvps/data/random"
	"tvps/data/steps"
	"tvps/replicate/experiment"

	"github.com/gomlx/gomlx/core/tensors"
)

// collected declares the stream of a data set that was collected in so many steps, in a folder that an environment
// variable names. Its samples are drawn from each step's own rows: no shift is made.
func collected(name, variable string, number int, change func(s *Settings)) Scenario {
	paper := clearPaper.with(change)
	paper.Steps, paper.Evaluate, paper.Network, paper.FinetuneEpochs = number-1, "draw", "mlp", paper.Epochs
	small := func(s *Settings) { s.MaxUpdates, s.GRate, s.GSchedule, s.GEpochs = 1000, 3e-3, "cosine", 0 }
	tiny := func(s *Settings) { s.N, s.MaxUpdates, s.GUpdates, s.Steps = 50, 100, 150, 3 }
	return Scenario{
		Name: name, Networks: vectorModels,
		Data: func(s Settings) []experiment.Data {
			return []experiment.Data{{Experiment: s.folder(""), Name: name + ":"}}
		},
		Open: func(h *experiment.Host, s Settings) Source { return stepsSource{libraryOf(h), s, variable} },
		Scales: experiment.ByScale[Settings]{
			experiment.Paper: paper,
			experiment.Small: paper.with(small),
			experiment.Tiny:  paper.with(small, tiny),
		},
	}
}

// stepsSource is a data set that was collected in steps.
type stepsSource struct {
	library  *library
	settings Settings
	variable string // of the environment
}

// load reads the data set. Errors: it is not there, damaged, or has fewer steps than the settings.
func (src stepsSource) load() (*steps.Set, error) {
	dir := os.Getenv(src.variable)
	if dir == "" {
		return nil, fmt.Errorf("scenario %s needs its data set, which is not part of this repository: get it as "+
			"data/README.md says, and set %s to its folder", src.settings.Scenario, src.variable)
	}
	set, err := memoize(&src.library.memo, dir, func() (*steps.Set, error) { return steps.Load(dir) })
	if err == nil && src.settings.Steps >= set.Steps() {
		err = fmt.Errorf("%s has %d steps, of which the last is only tested on: set steps=%d or less", dir, set.Steps(),
			set.Steps()-1)
	}
	return set, err
}

// About names the files.
func (src stepsSource) About() experiment.Source {
	set, err := src.load()
	if err != nil {
		return experiment.Source{}
	}
	note := fmt.Sprintf("%d rows of %d values in %d steps, %s to %s", len(set.Label), set.Dim, set.Steps(), set.Names[0],
		set.Names[set.Steps()-1])
	return experiment.Source{Note: note}
}

// Identity is the hash of the files.
func (src stepsSource) Identity(int64) (map[string]string, error) {
	set, err := src.load()
	if err != nil {
		return nil, err
	}
	return map[string]string{"data": src.name(set)}, nil
}

func (src stepsSource) name(set *steps.Set) string {
	return src.settings.Scenario + ":" + set.SHA256[:16]
}

// Stream draws the samples of a seed.
func (src stepsSource) Stream(_ context.Context, e *Engine, seed int64) (*Stream, error) {
	set, err := src.load()
	if err != nil {
		return nil, err
	}
	pool, err := memoize(&e.memo, src.name(set), func() (*tensors.Tensor, error) {
		return tensors.FromFlatDataAndDimensions(set.X, len(set.Label), set.Dim), nil
	})
	if err != nil {
		return nil, err
	}
	return drawnFrom(set, src.settings, seed, pool), nil
}

// drawnFrom is the stream of a seed: of each step's rows, in an order of the seed, up to a tenth for validation, then N
// to train, at most half of all, then up to TestN of the others to test (0 for all).
func drawnFrom(set *steps.Set, s Settings, seed int64, pool *tensors.Tensor) *Stream {
	const validation, train, test = 0, 1, 2
	part := func(which int) func(t int) Samples {
		return func(t int) Samples {
			n := set.First[t+1] - set.First[t]
			ends := []int{0, min(validationN, n/10), 0, n}
			if ends[2] = ends[1] + min(s.N, n/2); s.TestN > 0 {
				ends[3] = min(ends[2]+s.TestN, n)
			}
			var out Samples
			for _, i := range random.New(seed, "steps", t).Perm(n)[ends[which]:ends[which+1]] {
				row := set.First[t] + i
				out.Row, out.Label = append(out.Row, int32(row)), append(out.Label, set.Label[row])
			}
			return out
		}
	}
	return &Stream{
		Classes: set.Classes(), Pool: pool, X: set.X, GPool: asItIs(pool), ValidationX: pool,
		Train: part(train), Test: part(test), Validation: part(validation),
		InputOfG: func(row int32) []float32 { return set.X[int(row)*set.Dim : int(row+1)*set.Dim] },
	}
}
