package supervised

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// anyTrunk returns a trunk of width 1 with random weights, for images that a test has made.
func anyTrunk(t *testing.T, engine string, data *cifar10.Data) trunk {
	t.Helper()
	h := newHost(t, engine)
	params, err := resnet.Params(h.Backend.Backend, 1)
	demand.NoError(t, err)
	c := &net.Checkpoint{Params: params, Values: net.Init(params, 0, "continual test")}
	return trunk{h, data, checkpoint{c, "hash"}, 1}
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
	if fmt.Sprint(im.labels) != "[0 7 4 1 8 0 7 4]" {
		t.Errorf("labels %v", im.labels)
	}
	run := imageRun(t, "go", imageSettings(), fakeImages(t, 100, 20, 8))
	values, err := from.Select(run.Classifier.params, "")
	demand.NoError(t, err)
	if err := sameBits(im.head, values); err != nil {
		t.Errorf("the head's order is not that of the classifier: %v", err)
	}
	pattern := filepath.Join(from.host.CacheDir, "features", "resnet18-w1-hash-*.f16.zst")
	if files, _ := filepath.Glob(pattern); len(files) != 1 {
		t.Errorf("cached: %v", files)
	}
}
