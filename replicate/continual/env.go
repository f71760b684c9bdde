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
	"tvps/data/clear"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/resnet"
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
	first       *engine
	idle        []*engine
	data        map[string]*cifar10.Data
	checkpoints map[string]checkpoint
	images      map[string]*images
	clear       map[string]*clear.Set
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
// and for images and features the data and the checkpoint.
func (e *Env) Identity(s Settings, seed int64) (map[string]string, error) {
	id := e.Backend.Info.Identity()
	id["protocol"] = protocol
	if _, ok := s.shift(); !ok {
		return id, nil
	}
	from, err := e.origin(s)
	if err != nil {
		return nil, err
	}
	id["data"] = from.name
	if !from.images {
		return id, nil
	}
	c, err := e.checkpoint(s, seed)
	if err != nil {
		return nil, err
	}
	id["checkpoint-hash"] = c.hash
	return id, nil
}

// origin is where the samples of a label shift come from.
type origin struct {
	name   string // part of the run's identity
	note   string // a sentence without its full stop, for figures
	images bool   // they are images that a pre-trained network sees
}

func (e *Env) origin(s Settings) (origin, error) {
	if s.Scenario == "clear" && !e.StandsIn(s) {
		set, err := e.published(context.Background())
		if err != nil {
			return origin{}, err
		}
		return origin{"clear:" + set.Source.SHA256[:16], set.Source.Note, false}, nil
	}
	data, err := e.Data(s)
	if err != nil {
		return origin{}, err
	}
	return origin{map[bool]string{true: "full", false: "sample"}[data.Source.Full], data.Source.Note, true}, nil
}

// Data loads the images that the settings ask for, or that stand in for CLEAR.
func (e *Env) Data(s Settings) (*cifar10.Data, error) {
	if s.Scenario == "clear" {
		return e.standIn(s)
	}
	return e.Images(s)
}

// DataNote is a sentence without its full stop that says which data a scenario is made
// of; empty where they are drawn, or cannot be read.
func (e *Env) DataNote(s Settings) string {
	if _, ok := s.shift(); !ok {
		return ""
	}
	from, err := e.origin(s)
	if err != nil {
		return ""
	}
	return from.note
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

// bench makes the workplace of one run on an engine.
func (e *Env) bench(ctx context.Context, engine *engine, s Settings, name string, seed int64, measured string) (*bench, error) {
	b := &bench{settings: s, seed: seed}
	var err error
	if b.stream, err = e.stream(ctx, engine, s, seed); err != nil {
		return nil, err
	}
	switch measured, _ := measureOf(measured); measured {
	case MeasureAccuracy:
		err = b.classify(engine, name)
	case MeasureMMD:
		err = b.compare(engine)
	}
	if err != nil {
		return nil, err
	}
	if method := learnerTable[name].method; method != "" {
		b.estimator, err = engine.estimator(s, b.stream, method)
	}
	return b, err
}

// classify prepares the classifier and where it starts.
func (b *bench) classify(engine *engine, name string) error {
	s, shape := b.settings, b.stream.Pool.Shape()
	key := fmt.Sprint(s.of("classifier", s.modelPart()), shape)
	var err error
	b.classifier, err = shared(&engine.mu, &engine.classifiers, key, func() (*Classifier, error) {
		return NewClassifier(engine.Backend, s, shape, b.stream.Classes)
	})
	if err != nil {
		return err
	}
	if name == "metaweightnet" {
		b.metaWeight, err = shared(&engine.mu, &engine.metaWeights, key, func() (*metaweight.Trainer, error) {
			return newMetaWeight(engine.Backend, b.classifier, b.stream.Classes)
		})
	}
	b.start = func(t int) net.Values { return b.classifier.Init(b.seed, t) }
	if head := b.stream.Head; head != nil && (s.Start == "pretrained" || name == "pretrained") {
		b.start = func(int) net.Values { return head }
	}
	return err
}

// stream builds the scenario's stream, or finds it where an engine keeps it.
func (e *Env) stream(ctx context.Context, engine *engine, s Settings, seed int64) (*Stream, error) {
	kind := scenarios[s.Scenario].groups
	if slices.Contains(kind, "gaussian") {
		return shared(&engine.mu, &engine.streams, fmt.Sprint(seed, s.of("stream", "gaussian")), func() (*Stream, error) { return gaussianStream(s, seed) })
	}
	if slices.Contains(kind, "clear") {
		v, err := e.vectors(ctx, s, seed)
		if err != nil {
			return nil, err
		}
		return v.onEngine(engine, s, seed)
	}
	return e.labelShift(ctx, s, seed)
}

func (e *engine) estimator(s Settings, stream *Stream, method propensity.Method) (*propensity.Estimator, error) {
	if method == fromSettings {
		method = propensity.Method(s.Method)
	}
	cfg := s.propensity(stream.Classes, method)
	key := fmt.Sprint(cfg, s.Steps, stream.GPool.X.Shape())
	made, err := shared(&e.mu, &e.estimators, key, func() (*propensity.Estimator, error) {
		return propensity.NewEstimator(e.Backend, stream.GPool, s.Steps, cfg)
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
	im, err := e.trunk(ctx, s, seed, data)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return im.stream(s, seed)
}

// trunk returns images as the frozen trunk sees them, below the block that is trained.
func (e *Env) trunk(ctx context.Context, s Settings, seed int64, data *cifar10.Data) (*images, error) {
	c, err := e.checkpoint(s, seed)
	if err != nil {
		return nil, err
	}
	t := trunk{e.Backend.Backend, e.CacheDir, data, c, s.Width, e.Log}
	key := fmt.Sprint(c.hash, data.Source, data.Train.Len(), data.Test.Len())
	im, err := shared(&e.mu, &e.images, key, func() (*images, error) { return t.images(ctx) })
	if err != nil || s.Network != "head" || s.Block != "stage" {
		return im, err
	}
	return shared(&e.mu, &e.images, key+" stage", func() (*images, error) { return t.stage(ctx, im) })
}
