// Package continual is the paper's supervised protocol (Section 3.1): at every time
// step t each learner is trained from scratch on data up to t and tested on t + 1.
//
// A scenario under a seed is a Stream; a learner is a list of trainings; the same code
// runs every learner on every scenario. Jobs turns them into runs, which package runs
// computes once and keeps.
package continual

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"tvps/data/cifar10"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/runs"
)

// protocol is raised when the meaning of the same settings changes, so that results
// of an older program are not taken for those of this one.
const protocol = "1"

// Env is what all runs of a process share: the backend, the data, compiled programs.
type Env struct {
	Backend  *backend.Backend
	CacheDir string    // features and checkpoints are kept here
	Log      io.Writer // slow preparations are told here; may be nil

	mu          sync.Mutex
	classifiers map[string]*Classifier
	estimators  map[string]*propensity.Estimator
	data        map[string]*cifar10.Data
	checkpoints map[string]checkpoint
	images      map[string]*images
	streams     map[string]*Stream
}

// shared returns the value of a key, made once per process.
func shared[V any](mu *sync.Mutex, m *map[string]V, key string, make func() (V, error)) (V, error) {
	mu.Lock()
	defer mu.Unlock()
	if v, ok := (*m)[key]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
	return v, nil
}

// Identity is what, besides the settings, can change a run's numbers: the backend,
// and for images the data and the checkpoint.
func (e *Env) Identity(s Settings, seed int64) (map[string]string, error) {
	info := e.Backend.Info
	id := map[string]string{"protocol": protocol, "backend": info.Name, "plugin": info.PluginSHA256[:min(16, len(info.PluginSHA256))]}
	if s.Network != "head" {
		return id, nil
	}
	data, err := e.Images(s)
	if err != nil {
		return nil, err
	}
	c, err := e.checkpoint(s, seed)
	if err != nil {
		return nil, err
	}
	id["data"] = map[bool]string{true: "full", false: "sample"}[data.Source.Full]
	id["checkpoint-hash"] = c.hash
	return id, nil
}

// Images loads the images that the settings ask for, once.
func (e *Env) Images(s Settings) (*cifar10.Data, error) {
	return shared(&e.mu, &e.data, fmt.Sprint(s.Data, s.Images, s.TestN), func() (*cifar10.Data, error) {
		data, err := cifar10.Load(cifar10.Options{Sample: s.Data == "sample"})
		if err != nil || s.Images == 0 {
			return data, err
		}
		// With a limit on the images, features are computed of no more than are used.
		few := *data
		few.Train = firstOfClass(data.Train, s.Images)
		if s.TestN > 0 {
			few.Test = firstOfClass(data.Test, s.TestN)
		}
		few.Source.Note += fmt.Sprintf("; of these, %d training and %d test images are used", few.Train.Len(), few.Test.Len())
		return &few, nil
	})
}

// firstOfClass selects the first n images of a set, equally many of each class.
func firstOfClass(set cifar10.Set, n int) cifar10.Set {
	var rows []int32
	for _, class := range set.ByClass() {
		rows = append(rows, class[:min(len(class), max(1, n/cifar10.Classes))]...)
	}
	slices.Sort(rows)
	return set.Select(rows)
}

// checkpoint is a pre-trained network with the hash of its file.
type checkpoint struct {
	*resnet.Checkpoint
	hash string
}

// checkpoint is the committed one, or what pretrain left in the cache for the split;
// it is read once.
func (e *Env) checkpoint(s Settings, seed int64) (checkpoint, error) {
	folder, split := "", int64(0)
	if s.Checkpoint == "split" {
		folder, split = filepath.Join(e.CacheDir, "checkpoints"), seed
	}
	return shared(&e.mu, &e.checkpoints, fmt.Sprint(folder, s.Width, split), func() (checkpoint, error) {
		c, hash, err := resnet.Load(folder, s.Width, split)
		return checkpoint{c, hash}, err
	})
}

// Jobs returns one run for each learner and seed.
func Jobs(e *Env, s Settings, learners []string, seeds []int64) ([]runs.Job, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var jobs []runs.Job
	for _, seed := range seeds {
		identity, err := e.Identity(s, seed)
		if err != nil {
			return nil, err
		}
		for _, name := range learners {
			if err := CheckLearner(name, s); err != nil {
				return nil, err
			}
			jobs = append(jobs, e.job(s, name, seed, identity))
		}
	}
	return jobs, nil
}

func (e *Env) job(s Settings, name string, seed int64, identity map[string]string) runs.Job {
	settings := s.identity(name)
	for k, v := range identity {
		settings[k] = v
	}
	return runs.Job{
		Spec:  runs.Spec{Experiment: s.Scenario, Learner: name, Seed: seed, Settings: settings},
		Steps: s.PlannedSteps(),
		Cost:  s.cost(name),
		Start: func(ctx context.Context) (runs.StepFunc, func(), error) {
			b, err := e.bench(ctx, s, name, seed)
			if err != nil {
				return nil, nil, err
			}
			l := learnerTable[name]
			return func(ctx context.Context, t int) ([]runs.Row, error) { return b.step(ctx, l, t) }, nil, nil
		},
	}
}

// cost estimates the relative work of a learner's step, for the order of runs and the
// time left.
func (s Settings) cost(name string) float64 {
	past := float64(s.N*s.Steps) / 2 // samples of all steps so far, half-way
	full, learn := past*float64(s.Epochs)/float64(s.Batch), float64(s.GUpdates)
	if s.MaxUpdates > 0 {
		full = float64(s.MaxUpdates)
	}
	if s.GEpochs > 0 {
		learn = past * float64(s.GEpochs) / float64(s.GBatch)
	}
	one := min(full, float64(s.N*s.Epochs)/float64(s.Batch))
	update, g := 1., 4*learn // measured: minibatches of a vector model, of g,
	if s.Network == "head" {
		update = 150 // and of the head of ResNet-18
	}
	full, one = full*update, one*update
	return map[string]float64{"everything": full, "exact": full, "recent": one, "finetune": full + one,
		"ours": full + g, "standard": full + g, "pretrained": 1}[name]
}

// bench makes the workplace of one run.
func (e *Env) bench(ctx context.Context, s Settings, name string, seed int64) (*bench, error) {
	b := &bench{settings: s, seed: seed}
	var err error
	if s.Scenario == "gaussian" {
		b.stream, err = shared(&e.mu, &e.streams, fmt.Sprint("gaussian", seed, s.Steps, s.N, s.TestN), func() (*Stream, error) { return gaussianStream(s, seed) })
	} else {
		b.stream, err = e.labelShift(ctx, s, seed)
	}
	if err != nil {
		return nil, err
	}
	shape := b.stream.Pool.Shape()
	key := fmt.Sprint(s.of("classifier", s.modelPart()), shape)
	b.classifier, err = shared(&e.mu, &e.classifiers, key, func() (*Classifier, error) {
		return NewClassifier(e.Backend.Backend, s, shape, b.stream.Classes)
	})
	if err != nil {
		return nil, err
	}
	b.start = func(t int) net.Values { return b.classifier.Init(seed, t) }
	if head := b.stream.Head; head != nil && (s.Start == "pretrained" || name == "pretrained") {
		b.start = func(int) net.Values { return head }
	}
	if method, ok := methods[name]; ok {
		b.estimator, err = e.estimator(s, b.stream, method)
	}
	return b, err
}

// methods lists the learners that fit g; Ours takes its method from the settings.
var methods = map[string]propensity.Method{"ours": "", "standard": propensity.Standard}

func (e *Env) estimator(s Settings, stream *Stream, method propensity.Method) (*propensity.Estimator, error) {
	if method == "" {
		method = propensity.Method(s.Method)
	}
	cfg := s.propensity(stream.Classes, method)
	key := fmt.Sprint(cfg, s.Steps, stream.GPool.X.Shape())
	made, err := shared(&e.mu, &e.estimators, key, func() (*propensity.Estimator, error) {
		return propensity.NewEstimator(e.Backend.Backend, stream.GPool, s.Steps, cfg)
	})
	if err != nil {
		return nil, err
	}
	return made.On(stream.GPool)
}

// labelShift builds the stream of an image scenario.
func (e *Env) labelShift(ctx context.Context, s Settings, seed int64) (*Stream, error) {
	data, err := e.Images(s)
	if err != nil {
		return nil, err
	}
	c, err := e.checkpoint(s, seed)
	if err != nil {
		return nil, err
	}
	im, err := shared(&e.mu, &e.images, fmt.Sprint(c.hash, data.Source, data.Train.Len(), data.Test.Len()), func() (*images, error) {
		return loadImages(ctx, e.Backend.Backend, e.CacheDir, data, c.Checkpoint, c.hash, s.Width, e.Log)
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return im.stream(s, seed)
}
