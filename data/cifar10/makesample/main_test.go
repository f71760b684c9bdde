package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tvps/data/cifar10"
)

// The committed sample is what this program makes.
func TestReproducible(t *testing.T) {
	if os.Getenv("TVPS_DATA") == "" || testing.Short() {
		t.Skip("TVPS_DATA is not set, or -short")
	}
	dir, err := cifar10.Find(cifar10.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "sample.bin")
	if err := run(dir, out, cifar10.SampleTrain, cifar10.SampleTest); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(out)
	want, _ := os.ReadFile("../sample.bin")
	if !bytes.Equal(got, want) {
		t.Error("makesample makes another file than sample.bin")
	}
}

func TestRefusesOtherFiles(t *testing.T) {
	if err := run(t.TempDir(), filepath.Join(t.TempDir(), "sample.bin"), 1, 1); err == nil {
		t.Error("a sample was made from an empty folder")
	}
}
