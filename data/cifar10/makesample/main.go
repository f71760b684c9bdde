// Command makesample writes data/cifar10/sample.bin, the sample of CIFAR-10 that the
// repository carries, from the official binary files:
//
//	go run ./data/cifar10/makesample --from /path/to/cifar-10-batches-bin
//
// From each class it draws the same number of training images (from the five official
// training files) and of test images (from the official test file), without replacement and
// with a fixed seed. It packs them, checks that they decode unchanged and writes the file.
// The same official files give the same bytes.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"tvps/data/artifact"
	"tvps/data/cifar10"
	"tvps/data/cifar10/internal/pack"
	"tvps/data/random"
)

const seed = 0

func main() {
	from := flag.String("from", "", "folder of the six official .bin files (required)")
	out := flag.String("out", "data/cifar10/sample.bin", "file to write")
	train := flag.Int("train", cifar10.SampleTrain, "training images per class")
	test := flag.Int("test", cifar10.SampleTest, "test images per class")
	flag.Parse()
	if err := run(*from, *out, *train, *test); err != nil {
		fmt.Fprintln(os.Stderr, "makesample:", err)
		os.Exit(1)
	}
}

func run(from, out string, train, test int) error {
	if err := cifar10.Verify(from); err != nil {
		return err
	}
	data, err := cifar10.ReadDir(from)
	if err != nil {
		return err
	}
	trainSet, testSet := choose(data.Train, "train", train), choose(data.Test, "test", test)
	packed := pack.Encode(pack.Images(trainSet), pack.Images(testSet))
	start := time.Now()
	back, err := pack.Decode(packed)
	if err != nil {
		return fmt.Errorf("cannot decode the packed sample: it %w", err)
	}
	took := time.Since(start).Round(time.Millisecond)
	if !bytes.Equal(back[0].Pixels, trainSet.Pixels) || !bytes.Equal(back[1].Pixels, testSet.Pixels) {
		return errors.New("the packed sample decodes to other pixels")
	}
	n := trainSet.Len() + testSet.Len()
	fmt.Printf("%d training and %d test images: %d bytes (%.2f MiB), %d per image, decoded in %s\n",
		trainSet.Len(), testSet.Len(), len(packed), float64(len(packed))/(1<<20), len(packed)/n, took)
	return artifact.Replace(out, packed, 0o644)
}

// choose draws perClass images of each class and returns them in official order.
func choose(set cifar10.Set, part string, perClass int) cifar10.Set {
	var rows []int32
	for class, candidates := range set.ByClass() {
		order := random.New(seed, "cifar10", "sample", part, class).Perm(len(candidates))
		for _, i := range order[:perClass] {
			rows = append(rows, candidates[i])
		}
	}
	slices.Sort(rows)
	return set.Select(rows)
}
