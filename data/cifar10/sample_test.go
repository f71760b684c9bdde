package cifar10

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

func TestSampleIsStratified(t *testing.T) {
	d, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		name          string
		set           Set
		each, indices int
	}{{"train", d.Train, SampleTrain, TrainImages}, {"test", d.Test, SampleTest, TestImages}} {
		for class, rows := range part.set.ByClass() {
			if len(rows) != part.each {
				t.Errorf("%s has %d images of class %d, want %d", part.name, len(rows), class, part.each)
			}
		}
		unique := slices.Compact(slices.Clone(part.set.Index))
		inRange := unique[0] >= 0 && int(unique[len(unique)-1]) < part.indices
		if !slices.IsSorted(unique) || len(unique) != part.set.Len() || !inRange {
			t.Errorf("%s: official positions do not ascend, repeat or are out of range", part.name)
		}
		if len(part.set.Pixels) != part.set.Len()*Pixels {
			t.Errorf("%s: %d bytes of pixels", part.name, len(part.set.Pixels))
		}
	}
	if d.Source.Full || d.Source.Dir != "" {
		t.Errorf("the sample has the source %+v", d.Source)
	}
	const note = "CIFAR-10 sample from the repository: " +
		"6,500 training and 4,000 test images of the official splits, the same number of each class"
	if d.Source.Note != note {
		t.Errorf("note %q", d.Source.Note)
	}
	if again, _ := Sample(); again != d {
		t.Error("the sample was decoded twice")
	}
}

// No training image has the same pixels as a test image.
func TestSampleTrainAndTestAreDisjoint(t *testing.T) {
	d, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[Pixels]byte]int32{}
	for i := range d.Train.Len() {
		seen[[Pixels]byte(d.Train.Image(i))] = d.Train.Index[i]
	}
	for i := range d.Test.Len() {
		if at, found := seen[[Pixels]byte(d.Test.Image(i))]; found {
			t.Errorf("test image %d is training image %d", d.Test.Index[i], at)
		}
	}
}

var update = flag.Bool("update", false, "make sample.bin from the official files in TVPS_DATA; sampleSum is its SHA-256")

// The sample is official images, byte for byte, and sample.bin is drawn and packed as the test does it.
func TestSampleAgainstOfficial(t *testing.T) {
	if os.Getenv("TVPS_DATA") == "" {
		t.Skip("TVPS_DATA is not set")
	}
	dir, err := Find(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir); err != nil {
		t.Fatal(err)
	}
	full, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !full.Source.Full || full.Source.Dir != dir || full.Train.Len() != TrainImages || full.Test.Len() != TestImages {
		t.Fatalf("the full set is %+v", full.Source)
	}
	file := pack(chosen(full.Train, "train", SampleTrain), chosen(full.Test, "test", SampleTest))
	if *update {
		if err := os.WriteFile("sample.bin", file, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("SHA-256 %x", sha256.Sum256(file))
	} else if !bytes.Equal(file, sampleFile) {
		t.Error("sample.bin is another file")
	}
	sample, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]Set{{sample.Train, full.Train}, {sample.Test, full.Test}} {
		want := pair[1].Select(pair[0].Index)
		if !bytes.Equal(pair[0].Pixels, want.Pixels) || !bytes.Equal(pair[0].Labels, want.Labels) {
			t.Error("the sample differs from the official images")
		}
	}
}

// A damaged sample is an error, never other images.
func TestDamagedSample(t *testing.T) {
	flipped := bytes.Clone(sampleFile)
	flipped[7_000_000]++
	for _, file := range [][]byte{flipped, sampleFile[:5_000_000], append(bytes.Clone(sampleFile), 0),
		[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:0123456789")} {
		_, err := decodeSample(file)
		demand.Error(t, err, "sample.bin", fmt.Sprint(len(file), " bytes"), "git checkout")
	}
}

// chosen draws perClass images of each class and returns them in official order.
func chosen(set Set, part string, perClass int) Set {
	var rows []int32
	for class, candidates := range set.ByClass() {
		order := random.New(0, "cifar10", "sample", part, class).Perm(len(candidates))
		for _, i := range order[:perClass] {
			rows = append(rows, candidates[i])
		}
	}
	slices.Sort(rows)
	return set.Select(rows)
}

func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		if _, err := decodeSample(sampleFile); err != nil {
			b.Fatal(err)
		}
	}
}
