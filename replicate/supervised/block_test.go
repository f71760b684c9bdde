package supervised

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
)

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
			if n[0] != n[1] {
				t.Errorf("%s: an update changed %d of %d arrays of %s", what, n[0], n[1], part)
			}
		}
	}
	if n := len(moved(b.Classifier.params, random, random)); n != 3 {
		t.Errorf("%d parts are trained", n)
	}
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
	if sameBits(b.Start(3), b.Classifier.Init(0, 3)) != nil {
		t.Error("reinit does not start from random values")
	}
}
