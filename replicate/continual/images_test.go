package continual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/data/labelshift"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/klauspost/compress/zstd"
)

// TestImageStream: training images come from the seed's 90% split, test images from the
// test part, all with their own labels; neither meets the other.
func TestImageStream(t *testing.T) {
	im := fakeImages(t, 400, 100, 2)
	for _, evaluate := range choices["evaluate"] {
		for seed := range int64(3) {
			s := imageSettings()
			s.Evaluate = evaluate
			stream, err := im.stream(s, s.scenario().shift(s), seed)
			if err != nil {
				t.Fatal(err)
			}
			official, _ := cifar10.Split(cifar10.TrainImages, seed)
			for at := range 9 {
				train, test := stream.Train(at), stream.Test(at+1)
				if train.Len() != s.N || test.Len() != 100 {
					t.Errorf("%d training and %d test samples", train.Len(), test.Len())
				}
				for i, row := range train.Row {
					if _, ok := slices.BinarySearch(official, row); !ok || row >= 400 || int32(row*7%10) != train.Label[i] {
						t.Fatalf("seed %d: training row %d with label %d is not of the split's training part", seed, row, train.Label[i])
					}
				}
				for i, row := range test.Row {
					if row < 400 || row >= 500 || (row-400)*7%10 != test.Label[i] {
						t.Fatalf("test row %d with label %d is not of the test part", row, test.Label[i])
					}
				}
			}
			if slices.Equal(stream.Train(1).Row, stream.Train(2).Row) {
				t.Error("steps 1 and 2 draw the same images")
			}
			for label := range int32(10) {
				if got, want := stream.LogRatio(0, label, 5, 2), labelshift.CIFAR10b.LogRatio(int(label), 5, 2); got != want {
					t.Errorf("log ratio %v, want %v", got, want)
				}
			}
		}
	}
}

// TestWeighted: the weights of each class sum to its prior, and images of a class weigh
// the same, however many of them there are.
func TestWeighted(t *testing.T) {
	im := fakeImages(t, 20, 130, 1)
	s := imageSettings()
	stream, err := im.stream(s, s.scenario().shift(s), 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := range 14 {
		prior := labelshift.CIFAR10b.Prior(at)
		byClass, each := make([]float64, 10), map[int32]float64{}
		test := stream.Test(at)
		for i, w := range test.Weight {
			y := test.Label[i]
			byClass[y] += w
			if each[y] == 0 {
				each[y] = w
			}
			if w != each[y] {
				t.Errorf("step %d: images of class %d weigh %v and %v", at, y, w, each[y])
			}
		}
		for y := range prior {
			if math.Abs(byClass[y]-prior[y]) > 1e-12 {
				t.Errorf("step %d: class %d weighs %v, want %v", at, y, byClass[y], prior[y])
			}
		}
	}
}

func TestTestRows(t *testing.T) {
	im := fakeImages(t, 20, 200, 1)
	seen := map[string]bool{}
	for seed := range int64(3) {
		rows := im.testRows(50, seed)
		seen[fmt.Sprint(rows)] = true
		for class, list := range rows {
			unique := slices.Compact(slices.Sorted(slices.Values(list)))
			if len(unique) != 5 {
				t.Errorf("class %d has %d of 50 images", class, len(unique))
			}
			for _, row := range list {
				if row < 20 || im.labels[row] != int32(class) {
					t.Errorf("row %d is no test image of class %d", row, class)
				}
			}
		}
		if again := im.testRows(50, seed); fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Error("the same seed draws other test images")
		}
	}
	if len(seen) != 3 {
		t.Error("seeds share their test images")
	}
	for _, n := range []int{0, 200, 1000} {
		for class, list := range im.testRows(n, 0) {
			if len(list) != 20 || list[0] < 20 {
				t.Errorf("n = %d: class %d has %d images", n, class, len(list))
			}
		}
	}
	if list := im.testRows(3, 0); len(list[9]) != 1 {
		t.Errorf("n = 3 leaves %d images of a class", len(list[9]))
	}
}

func TestPooledFeaturesAndPixels(t *testing.T) {
	const channels = 3
	im := fakeImages(t, 12, 5, channels)
	features := tensors.MustCopyFlatData[float16.Float16](im.pool)
	for row := range 17 {
		for c := range channels {
			sum := 0.0
			for place := range 16 {
				sum += float64(features[(row*16+place)*channels+c].Float32())
			}
			if got := float64(im.pooled[row*channels+c]); math.Abs(got-sum/16) > 1e-6 {
				t.Fatalf("row %d, channel %d: %v, want %v", row, c, got, sum/16)
			}
		}
	}
	pixels := im.pixels()
	for _, at := range [][4]int{{0, 0, 0, 0}, {3, 31, 2, 1}, {12, 5, 30, 2}, {16, 31, 31, 2}} {
		set, i := im.data.Train, at[0]
		if i >= 12 {
			set, i = im.data.Test, i-12
		}
		want := float32(set.Image(i)[at[3]*1024+at[1]*32+at[2]]) / 255
		if got := pixels[((at[0]*32+at[1])*32+at[2])*3+at[3]]; got != want {
			t.Errorf("pixel %v is %v, want %v", at, got, want)
		}
	}
	for input, shape := range map[string]string{"features": "[17 3]", "pixels": "[17 32 32 3]"} {
		p, err := im.gPool(input)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.X.Shape().Dimensions); got != shape {
			t.Errorf("%s have shape %s", input, got)
		}
		if again, _ := im.gPool(input); again != p {
			t.Errorf("the pool of %s is made twice", input)
		}
	}
	mean := 0.0
	for row := range 12 { // training images only
		mean += float64(im.pooled[row*channels]) / 12
	}
	if p, _ := im.gPool("features"); math.Abs(float64(p.Mean[0])-mean) > 1e-6 {
		t.Errorf("g's inputs are centred at %v, want %v", p.Mean[0], mean)
	}
}

// features are n values that float16 holds exactly.
func features(n int) func() ([]float32, error) {
	return func() ([]float32, error) {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(i%100) / 4
		}
		return out, nil
	}
}

func TestFeatureCache(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "features", "x.zst")
	var log bytes.Buffer
	calls := 0
	get := func(n int) []float16.Float16 {
		t.Helper()
		out, err := cachedFeatures(context.Background(), path, n, &log, func() ([]float32, error) { calls++; return features(n)() })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := get(n)
	for i, v := range first {
		if v.Float32() != float32(i%100)/4 {
			t.Fatalf("value %d is %v", i, v.Float32())
		}
	}
	if again := get(n); calls != 1 || !slices.Equal(again, first) || log.Len() > 0 {
		t.Fatalf("computed %d times, log %q", calls, &log)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"truncated": func(b []byte) []byte { return b[:len(b)-9] },
		"empty":     func(b []byte) []byte { return nil },
		"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"no zstd":   func(b []byte) []byte { b[0] ^= 1; return b },
	} {
		calls = 0
		log.Reset()
		if err := os.WriteFile(path, damage(bytes.Clone(whole)), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := get(n); calls != 1 || !slices.Equal(got, first) {
			t.Errorf("%s: computed %d times", name, calls)
		}
		if text := log.String(); !strings.Contains(text, path) || !strings.Contains(text, "damaged") {
			t.Errorf("%s: the log says %q", name, text)
		}
		if mended, err := os.ReadFile(path); err != nil || !bytes.Equal(mended, whole) {
			t.Errorf("%s: the file was not mended: %v", name, err)
		}
	}
	calls = 0
	if get(n + 16); calls != 1 {
		t.Error("a file with another number of features was taken")
	}
}

// TestFeatureChecksum: a whole zstd stream whose features are not those that its
// SHA-256 was taken of is refused.
func TestFeatureChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zst")
	raw := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	sum := sha256.Sum256(raw)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	for what, content := range map[string][]byte{"right": raw, "wrong": {1, 2, 3, 4, 5, 6, 7, 9}} {
		if err := os.WriteFile(path, encoder.EncodeAll(slices.Concat(content, sum[:]), nil), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readFeatures(path, 4)
		if what == "wrong" {
			demand.Error(t, err, "checksum")
		} else if err != nil || got[1] != 0x0403 {
			t.Errorf("%x, %v", got, err)
		}
	}
}

func TestFeatureCacheCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	out, err := cachedFeatures(context.Background(), filepath.Join(file, "x.zst"), 10, &log, features(10))
	if err != nil || len(out) != 10 || !strings.Contains(log.String(), "could not be cached") {
		t.Errorf("%d features, %v, log %q", len(out), err, &log)
	}
	if _, err := cachedFeatures(context.Background(), filepath.Join(file, "x.zst"), 10, nil, features(10)); err != nil {
		t.Errorf("without a log: %v", err)
	}
	broken := errors.New("broken")
	_, err = cachedFeatures(context.Background(), filepath.Join(t.TempDir(), "x"), 10, nil, func() ([]float32, error) { return nil, broken })
	if err != broken {
		t.Errorf("got %v", err)
	}
}

// anyTrunk is a trunk of width 1 with random weights, over images that a test has made.
func anyTrunk(t *testing.T, engine string, data *cifar10.Data) trunk {
	t.Helper()
	b := open(t, engine).Backend
	params, err := resnet.Params(b, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := &resnet.Checkpoint{Params: params, Values: net.Init(params, 0, "continual test")}
	return trunk{backend: b, cacheDir: t.TempDir(), data: data, checkpoint: checkpoint{c, "hash"}, width: 1}
}

// TestLoadImages runs a trunk of width 1: the pool holds its features, training images
// first, and the head is the checkpoint's in the classifier's own order.
func TestLoadImages(t *testing.T) {
	data := fakeImages(t, 5, 3, 8).data
	from := anyTrunk(t, "go", data)
	im, err := from.images(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	cut := resnet.LastBlock
	want, err := cut.Features(context.Background(), from.backend, from.Checkpoint, 1, resnet.Images{Pixels: data.Test.Pixels, Labels: data.Test.Labels}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := tensors.MustCopyFlatData[float16.Float16](im.pool)
	for i, v := range want {
		if f := got[5*cut.Size(1)+i].Float32(); math.Abs(float64(f-v)) > 1e-3*(1+math.Abs(float64(v))) {
			t.Fatalf("feature %d of the test images is %v, want %v", i, f, v)
		}
	}
	if fmt.Sprint(im.labels) != "[0 7 4 1 8 0 7 4]" {
		t.Errorf("labels %v", im.labels)
	}
	bench := imageRun(t, "go", imageSettings(), fakeImages(t, 100, 20, 8))
	values, err := from.Select(bench.Classifier.params, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := sameBits(im.head, values); err != nil {
		t.Errorf("the head's order is not that of the classifier: %v", err)
	}
	if files, _ := filepath.Glob(filepath.Join(from.cacheDir, "features", "resnet18-w1-hash-*.f16.zst")); len(files) != 1 {
		t.Errorf("cached: %v", files)
	}
}
