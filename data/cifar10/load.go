package cifar10

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

// folder is the name of the folder inside the official archive, and in the cache.
const folder = "cifar-10-batches-bin"

// Options says where Load looks. The zero value is right for almost everybody.
type Options struct {
	Dir    string // takes the place of the environment variable TVPS_DATA
	Sample bool   // use the embedded sample even where the full set is there
}

// Load returns CIFAR-10 from the first of these places:
//
//  1. TVPS_DATA (or opts.Dir): the folder of the six .bin files, or one that contains
//     cifar-10-batches-bin;
//  2. the data cache, where Download puts it: cifar-10-batches-bin in artifact.CacheDir;
//  3. the sample embedded in the program.
//
// A place that is named and does not hold the whole set is an error, never a reason to
// go on to the next; so is a damaged cache. Data.Source says what was used.
func Load(opts Options) (*Data, error) {
	dir, err := Find(opts)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return Sample()
	}
	return ReadDir(dir)
}

// Find returns the folder that Load would read, or "" for the embedded sample.
func Find(opts Options) (string, error) {
	if opts.Sample {
		return "", nil
	}
	if named := firstOf(opts.Dir, os.Getenv("TVPS_DATA")); named != "" {
		return inside(named)
	}
	cache, err := CacheDir()
	if err != nil {
		return "", nil // no cache on this machine
	}
	switch _, err := os.Stat(cache); {
	case err == nil:
		return cache, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", fmt.Errorf("cifar10: cannot look for the data in the cache: %w; set TVPS_CACHE to a folder that can be read", err)
	}
}

// CacheDir is the folder where Download puts the six files.
func CacheDir() (string, error) {
	root, err := artifact.CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, folder), nil
}

// inside returns the folder of the .bin files in a named place: a subfolder, or itself.
func inside(named string) (string, error) {
	if info, err := os.Stat(filepath.Join(named, folder)); err == nil && info.IsDir() {
		return filepath.Join(named, folder), nil
	}
	for _, name := range officialFiles {
		if _, err := os.Stat(filepath.Join(named, name)); err == nil {
			return named, nil
		}
	}
	return "", fmt.Errorf("cifar10: the data folder (TVPS_DATA) is %s, where there is neither a folder %s nor a file like %s; correct it, or unset it to use the data cache or the embedded sample",
		named, folder, officialFiles[0])
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
