package cifar10

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"image"
	"sync"

	"golang.org/x/image/webp"
)

// SampleTrain and SampleTest are the numbers of images per class in the embedded sample.
const (
	SampleTrain = 650
	SampleTest  = 400
)

// The embedded sample: its images in one lossless picture, sampleRow of them in a row of it, and of each image its
// official position and label. The training images are the first ones.
var (
	//go:embed sample.webp
	samplePicture []byte
	//go:embed sample.labels
	sampleLabels []byte
)

const (
	sampleRow = 100
	side      = 32 // of an image
)

// SampleSource is that of the embedded sample.
var SampleSource = Source{Note: "CIFAR-10 sample from the repository: " +
	"6,500 training and 4,000 test images of the official splits, the same number of each class"}

// sampled is an entry of sample.labels, little-endian.
type sampled struct {
	Index int32
	Label uint8
}

// Sample returns the embedded sample. The first call decodes it in about a second. All
// callers share it and must not write to it.
var Sample = sync.OnceValues(func() (*Data, error) {
	decoded, err := webp.Decode(bytes.NewReader(samplePicture))
	if err != nil {
		return nil, fmt.Errorf("cifar10: cannot decode the embedded sample: %w", err)
	}
	entries := make([]sampled, Classes*(SampleTrain+SampleTest))
	if _, err := binary.Decode(sampleLabels, binary.LittleEndian, entries); err != nil {
		return nil, fmt.Errorf("cifar10: cannot decode the labels of the embedded sample: %w", err)
	}
	const first = Classes * SampleTrain // of the test images
	return &Data{
		Train: imagesIn(decoded.(*image.NRGBA), entries[:first], 0),
		Test:  imagesIn(decoded.(*image.NRGBA), entries[first:], first), Source: SampleSource}, nil
})

// imagesIn cuts images out of the picture; first is the place of the first one.
func imagesIn(picture *image.NRGBA, entries []sampled, first int) Set {
	set := Set{Pixels: make([]byte, 0, len(entries)*Pixels)}
	for i, entry := range entries {
		set.Index, set.Labels = append(set.Index, entry.Index), append(set.Labels, entry.Label)
		left, top := (first+i)%sampleRow*side, (first+i)/sampleRow*side
		for colour := range 3 {
			for y := range side {
				at := picture.PixOffset(left, top+y) + colour
				for x := range side {
					set.Pixels = append(set.Pixels, picture.Pix[at+4*x])
				}
			}
		}
	}
	return set
}
