package cifar10

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tvps/data/cifar10/internal/pack"
)

// SampleTrain and SampleTest are the numbers of images per class in the embedded sample.
const (
	SampleTrain = 650
	SampleTest  = 400
)

//go:embed sample.bin
var sampleFile []byte

// Sample returns the embedded sample. The first call decodes it in about a second. All
// callers share it and must not write to it.
var Sample = sync.OnceValues(func() (*Data, error) { return decodeSample(sampleFile) })

// decodeSample decodes a sample and checks its lists and labels.
func decodeSample(file []byte) (*Data, error) {
	lists, err := pack.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("cifar10: the embedded sample (data/cifar10/sample.bin) %w; "+
			"restore it with `git checkout data/cifar10/sample.bin` and build again", err)
	}
	if len(lists) != 2 {
		return nil, fmt.Errorf("cifar10: the embedded sample has %d lists of images instead of 2, train and test; "+
			"make it again with data/cifar10/makesample", len(lists))
	}
	d := &Data{Train: Set(lists[0]), Test: Set(lists[1])}
	for _, set := range []Set{d.Train, d.Test} {
		if set.Len() == 0 || slices.Max(set.Labels) >= Classes {
			return nil, errors.New("cifar10: the embedded sample has an empty list or a label above 9; " +
				"make it again with data/cifar10/makesample")
		}
	}
	d.Source = Source{Note: fmt.Sprintf("CIFAR-10 sample from the repository: "+
		"%s training and %s test images of the official splits, the same number of each class",
		thousands(d.Train.Len()), thousands(d.Test.Len()))}
	return d, nil
}

// thousands writes n with a comma: 6,500.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
