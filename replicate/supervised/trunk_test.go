package supervised

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/klauspost/compress/zstd"
)

// anyTrunk returns a trunk of width 1 with random weights, for images that a test has made.
func anyTrunk(t *testing.T, engine string, data *cifar10.Data) trunk {
	t.Helper()
	h := newHost(t, engine)
	params, err := resnet.Params(h.Backend.Backend, 1)
	demand.NoError(t, err)
	c := &net.Checkpoint{Params: params, Values: net.Init(params, 0, "continual test")}
	return trunk{h, data, checkpoint{c, "hash"}, 1, new(experiment.Memo)}
}

// TestTrunk: the pool holds the features of the images, training images first. The head is the checkpoint's, in the
// order of the classifier's parameters.
func TestTrunk(t *testing.T) {
	data := fakeImages(t, 5, 3, 8).data
	from := anyTrunk(t, "go", data)
	im, err := from.images(context.Background())
	demand.NoError(t, err)
	cut := resnet.LastBlock
	tests := resnet.Images{Pixels: data.Test.Pixels, Labels: data.Test.Labels}
	want, err := cut.Features(t.Context(), from.host.Backend.Backend, from.Checkpoint, 1, tests, nil)
	demand.NoError(t, err)
	got := tensors.MustCopyFlatData[float16.Float16](im.pool)
	for i, v := range want {
		if f := got[5*cut.Size(1)+i].Float32(); math.Abs(float64(f-v)) > 1e-3*(1+math.Abs(float64(v))) {
			t.Fatalf("feature %d of the test images is %v, want %v", i, f, v)
		}
	}
	demand.Equal(t, fmt.Sprint(im.labels), "[0 7 4 1 8 0 7 4]", "labels")
	run := imageRun(t, "go", imageSettings(), fakeImages(t, 100, 20, 8))
	values, err := from.Select(run.Classifier.params, "")
	demand.NoError(t, err)
	demand.NoError(t, sameBits(im.head, values)) // in the order of the classifier
	pattern := filepath.Join(from.host.CacheDir, "features", "resnet18-w1-hash-*.f16.zst")
	if files, _ := filepath.Glob(pattern); len(files) != 1 {
		t.Errorf("cached: %v", files)
	}
}

// bothBlocks returns the same images with the features below the last block and below the last stage.
func bothBlocks(t *testing.T) (from trunk, blocks map[string]*images) {
	t.Helper()
	from = anyTrunk(t, "", fakeImages(t, 60, 20, 1).data)
	basic, err := from.images(context.Background())
	demand.NoError(t, err)
	stage, err := from.stage(context.Background(), basic)
	demand.NoError(t, err)
	return from, map[string]*images{"basic": basic, "stage": stage}
}

// TestCuts: the inputs of g are the same wherever the network is cut. An update changes all that is above the cut.
func TestCuts(t *testing.T) {
	from, images := bothBlocks(t)
	pools := map[string]*propensity.Pool{}
	for block, im := range images {
		s := imageSettings()
		s.Block = block
		pools[block] = imageRun(t, "", s, im).Stream.GPool
	}
	if pools["stage"] != pools["basic"] {
		t.Error("g sees other inputs with another cut")
	}
	pattern := filepath.Join(from.host.CacheDir, "features", "resnet18-w1-stage-hash-*.f16.zst")
	if files, _ := filepath.Glob(pattern); len(files) != 1 {
		t.Errorf("cached: %v", files)
	}
	stageTrains(t, images["stage"])
}

// stageTrains checks that one update changes both blocks of the last stage, from the pre-trained start and from a
// random one.
func stageTrains(t *testing.T, im *images) {
	t.Helper()
	s := imageSettings()
	s.Block, s.MaxUpdates = "stage", 1
	b := imageRun(t, "", s, im)
	random := b.Classifier.Init(0, 3)
	if sameBits(random, im.head) == nil {
		t.Error("the random start is the pre-trained one")
	}
	for what, start := range map[string]net.Values{"pretrained": im.head, "reinit": random} {
		data, order := b.Stream.Upto(0, 3), batchOrder(0, 3, 0)
		after, err := b.Classifier.Fit(t.Context(), b.Stream.Pool, start, data, 1, order)
		demand.NoError(t, err)
		for part, n := range moved(b.Classifier.params, start, after) {
			demand.Equal(t, n[0], n[1], "%s: arrays of %s that an update changed", what, part)
		}
	}
	demand.Equal(t, len(moved(b.Classifier.params, random, random)), 3, "parts that are trained")
}

// moved counts the trainable arrays of each block and of the classifier: those that differ, and all.
func moved(params []net.Param, before, after net.Values) map[string][2]int {
	out := map[string][2]int{}
	for i, p := range params {
		if !p.Trainable {
			continue
		}
		part := strings.Join(strings.SplitN(p.Name, "/", 3)[:2], "/")
		if strings.HasPrefix(part, "classifier") {
			part = "classifier"
		}
		n := out[part]
		n[1]++
		if sameBits(before[i:i+1], after[i:i+1]) != nil {
			n[0]++
		}
		out[part] = n
	}
	return out
}

// TestCheckpointOfSplit: with a checkpoint for each seed, the stand-in's features are those of the seed's own, and all
// share the pixels. With the committed one for all, which the program lacks at this width, they are those of split 0.
func TestCheckpointOfSplit(t *testing.T) {
	h := newHost(t, "go")
	params, err := resnet.Params(h.Backend.Backend, 1)
	demand.NoError(t, err)
	folder := filepath.Join(h.CacheDir, "checkpoints")
	demand.NoError(t, os.MkdirAll(folder, 0o755))
	for seed := range int64(2) {
		c := net.Checkpoint{Params: params, Values: net.Init(params, seed, "continual test")}
		demand.NoError(t, c.Save(filepath.Join(folder, resnet.FileName(1, seed))))
	}
	standIn, pixels := standInSettings(), imageSettings()
	pixels.Data, pixels.Images, pixels.TestN, pixels.N, pixels.GInput = "sample", 20, 10, 5, "pixels"
	standIn.Images, standIn.N = 20, 5
	engine := &Engine{Backend: h.Backend.Backend}
	for name, s := range map[string]Settings{"stand-in": standIn, "pixels": pixels} {
		s.Width, s.Checkpoint = 1, "split"
		var streams [2]*Stream
		for seed := range streams {
			streams[seed], err = s.open(h).Stream(t.Context(), engine, int64(seed))
			demand.NoError(t, err)
		}
		a, b := streams[0], streams[1]
		same := slices.Equal(a.InputOfG(3), b.InputOfG(3))
		demand.Equal(t, same, s.GInput == "pixels", "%s: g sees the same of both checkpoints", name)
		demand.Equal(t, a.Pool == b.Pool, false, "%s: both checkpoints have one pool", name)
		demand.Equal(t, a.GPool.X == b.GPool.X, s.GInput == "pixels", "%s: both checkpoints have one pool of g", name)
		s.Checkpoint = "committed"
		of, err := s.open(h).Stream(t.Context(), engine, 0)
		demand.NoError(t, err)
		demand.Equal(t, slices.Equal(of.InputOfG(3), a.InputOfG(3)), true, "%s: g sees the features of split 0", name)
	}
}

// TestStageByName: block=stage trains on the features below the last stage. The committed network's accuracy without
// training is the same with either cut.
func TestStageByName(t *testing.T) {
	s := imageSettings()
	s.Width, s.Data, s.Images, s.TestN, s.N, s.MaxUpdates = 16, "sample", 100, 100, 20, 1
	h := newHost(t, "")
	sizes, accuracy := map[string]int{}, map[string]float64{}
	for _, block := range choices["block"] {
		s.Block = block
		b := newRun(t, h, s, "pretrained", 0, "")
		sizes[block], accuracy[block] = b.Stream.Pool.Shape().Dim(1), accuracyOf(t, b, named("pretrained"), 3)
	}
	if sizes["basic"] != 4*4*128 || sizes["stage"] != 8*8*64 {
		t.Errorf("features of an image: %v", sizes)
	}
	if d := accuracy["stage"] - accuracy["basic"]; math.Abs(d) > .02 || accuracy["basic"] < .7 {
		t.Errorf("accuracy %v", accuracy)
	}
	s.Start = "reinit"
	b := newRun(t, h, s, "everything", 0, "")
	demand.NoError(t, sameBits(b.Start(3), b.Classifier.Init(0, 3)))
}

// TestFeatureCache: features are computed once. A file with another number of features, or a damaged one, is named in
// the log and written again. Features that cannot be written say so.
func TestFeatureCache(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "features", "x.zst")
	var log bytes.Buffer
	calls := 0
	get := func(path string) []float16.Float16 {
		t.Helper()
		out, err := cachedFeatures(t.Context(), path, n, &log, func() ([]float32, error) {
			calls++
			values := make([]float32, n)
			for i := range values {
				values[i] = float32(i%100) / 4 // which float16 represents exactly
			}
			return values, nil
		})
		demand.NoError(t, err)
		return out
	}
	first := get(path)
	for i, v := range first {
		if v.Float32() != float32(i%100)/4 {
			t.Fatalf("value %d is %v", i, v.Float32())
		}
	}
	if again := get(path); calls != 1 || !slices.Equal(again, first) || log.Len() > 0 {
		t.Fatalf("computed %d times, log %q", calls, &log)
	}
	whole := demand.Read(t, path)
	packed := func(raw []byte) []byte {
		encoder, err := zstd.NewWriter(nil)
		demand.NoError(t, err)
		defer encoder.Close()
		return encoder.EncodeAll(raw, nil)
	}
	ofZeros := sha256.Sum256(make([]byte, 2*n+2))
	for name, damaged := range map[string][]byte{
		"truncated":      whole[:len(whole)-9],
		"one more":       packed(append(make([]byte, 2*n+2), ofZeros[:]...)),
		"wrong checksum": packed(make([]byte, 2*n+sha256.Size)),
		"a large one":    packed(make([]byte, 64<<20)),
	} {
		calls = 0
		log.Reset()
		demand.Write(t, path, damaged)
		if got := get(path); calls != 1 || !slices.Equal(got, first) {
			t.Errorf("%s: computed %d times", name, calls)
		}
		demand.Words(t, log.String(), path, "damaged")
		if !bytes.Equal(demand.Read(t, path), whole) {
			t.Errorf("%s: the file was not written again", name)
		}
	}
	log.Reset()
	get(filepath.Join(path, "below a file.zst"))
	demand.Words(t, log.String(), "could not be cached")
}

// TestFeaturesOfTwoProcesses: of two that need the same features, one computes them and the other waits for it.
func TestFeaturesOfTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zst")
	var calls atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			got, err := cachedFeatures(t.Context(), path, 3, nil, func() ([]float32, error) {
				calls.Add(1)
				time.Sleep(200 * time.Millisecond)
				return []float32{1, 2, 3}, nil
			})
			if err != nil || len(got) != 3 || got[2].Float32() != 3 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	both.Wait()
	demand.Equal(t, calls.Load(), 1, "times computed")
}
