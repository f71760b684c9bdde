package cifar10

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"sync"
)

// SampleTrain and SampleTest are the numbers of images per class in the embedded sample.
const (
	SampleTrain = 650
	SampleTest  = 400
)

//go:embed sample.bin
var sampleFile []byte

// sampleSum is the SHA-256 of sample.bin.
const sampleSum = "ac844a5bbd6ae1c4b445deb9a89ff1e83c7b6fee701c253b815e40e13a86869d"

// Sample returns the embedded sample. The first call decodes it in about a second. All
// callers share it and must not write to it.
var Sample = sync.OnceValues(func() (*Data, error) { return decodeSample(sampleFile) })

// decodeSample checks and decodes the sample.
func decodeSample(file []byte) (*Data, error) {
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != sampleSum {
		return nil, fmt.Errorf("cifar10: the embedded sample (data/cifar10/sample.bin, %d bytes) has the SHA-256 %x "+
			"instead of %s; restore it with `git checkout data/cifar10/sample.bin` and build again", len(file), sum, sampleSum)
	}
	sets := unpack(file)
	return &Data{Train: sets[0], Test: sets[1], Source: Source{Note: "CIFAR-10 sample from the repository: " +
		"6,500 training and 4,000 test images of the official splits, the same number of each class"}}, nil
}
