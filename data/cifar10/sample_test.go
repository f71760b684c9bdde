package cifar10

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"reflect"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

func TestSampleIsStratified(t *testing.T) {
	d, err := Sample()
	demand.NoError(t, err)
	for _, part := range []struct {
		name          string
		set           Set
		each, indices int
	}{{"train", d.Train, SampleTrain, TrainImages}, {"test", d.Test, SampleTest, testImages}} {
		for class, rows := range part.set.ByClass() {
			demand.Equal(t, len(rows), part.each, "images of class %d in %s", class, part.name)
		}
		unique := slices.Compact(slices.Clone(part.set.Index))
		inRange := unique[0] >= 0 && int(unique[len(unique)-1]) < part.indices
		if !slices.IsSorted(unique) || len(unique) != part.set.Len() || !inRange {
			t.Errorf("%s: official positions do not ascend, repeat or are out of range", part.name)
		}
		demand.Equal(t, len(part.set.Pixels), part.set.Len()*Pixels, "bytes of pixels in %s", part.name)
	}
	sum := sha256.Sum256(slices.Concat(d.Train.Pixels, d.Test.Pixels))
	const golden = "902c699a5816085fd905c7e0270c37903866e3e5a7a4f49155ade8a734ba9af8"
	demand.Equal(t, hex.EncodeToString(sum[:]), golden, "the pixels have the SHA-256")
	if d.Source.Full || d.Source.Dir != "" {
		t.Errorf("the sample has the source %+v", d.Source)
	}
	const note = "CIFAR-10 sample from the repository: " +
		"6,500 training and 4,000 test images of the official splits, the same number of each class"
	demand.Equal(t, d.Source.Note, note, "note")
	if again, _ := Sample(); again != d {
		t.Error("the sample was decoded twice")
	}
}

var update = flag.Bool("update", false, "make sample.labels and sample.png from the official files in TVPS_DATA")

// The sample is official images, byte for byte, drawn as the test does it.
func TestSampleAgainstOfficial(t *testing.T) {
	if os.Getenv("TVPS_DATA") == "" {
		t.Skip("TVPS_DATA is not set")
	}
	full, err := Load()
	demand.NoError(t, err)
	demand.NoError(t, Verify(full.Source.Dir))
	if !full.Source.Full || full.Train.Len() != TrainImages || full.Test.Len() != testImages {
		t.Fatalf("the full set is %+v", full.Source)
	}
	train, test := chosen(full.Train, "train", SampleTrain), chosen(full.Test, "test", SampleTest)
	if *update {
		writeSample(t, train, test)
	}
	sample, err := Sample()
	demand.NoError(t, err)
	if !reflect.DeepEqual(sample.Train, train) || !reflect.DeepEqual(sample.Test, test) {
		t.Error("the sample differs from the official images")
	}
}

// writeSample writes sample.labels, and sample.png, of which cwebp makes sample.webp.
func writeSample(t *testing.T, sets ...Set) {
	var labels, picture bytes.Buffer
	i, mosaic := 0, image.NewRGBA(image.Rect(0, 0, sampleRow*side, Classes*(SampleTrain+SampleTest)/sampleRow*side))
	for _, set := range sets {
		for row := range set.Len() {
			binary.Write(&labels, binary.LittleEndian, sampled{set.Index[row], set.Labels[row]})
			pixels := set.Image(row)
			for at := range side * side {
				colour := color.RGBA{pixels[at], pixels[at+side*side], pixels[at+2*side*side], 255}
				mosaic.SetRGBA(i%sampleRow*side+at%side, i/sampleRow*side+at/side, colour)
			}
			i++
		}
	}
	if err := errors.Join(png.Encode(&picture, mosaic), os.WriteFile("sample.png", picture.Bytes(), 0o644),
		os.WriteFile("sample.labels", labels.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
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
