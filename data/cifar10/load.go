package cifar10

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

// folder is the folder of the files in the official archive and in the cache.
const folder = "cifar-10-batches-bin"

// Options says where Load looks. The zero value follows the environment.
type Options struct {
	Dir    string // folder to use instead of that in TVPS_DATA
	Sample bool   // use the embedded sample even if the full set is available
}

// Load returns CIFAR-10 from the first of these places:
//
//  1. TVPS_DATA (or opts.Dir): the folder of the six .bin files, or one that contains
//     cifar-10-batches-bin;
//  2. the data cache, where Download puts it: cifar-10-batches-bin in artifact.CacheDir;
//  3. the sample embedded in the program.
//
// If a named folder or the folder in the cache does not hold the complete set, that is an
// error: Load never continues with the next place. Data.Source says what was used.
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
		return "", nil // there is no cache folder
	}
	switch _, err := os.Stat(cache); {
	case err == nil:
		return cache, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", fmt.Errorf("cifar10: cannot look for the data in the cache: %w; "+
			"set TVPS_CACHE to a readable folder", err)
	}
}

// CacheDir returns the folder to which Download writes the six files.
func CacheDir() (string, error) {
	root, err := artifact.CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, folder), nil
}

// inside returns the folder of the .bin files: a subfolder of the named folder, or itself.
func inside(named string) (string, error) {
	if info, err := os.Stat(filepath.Join(named, folder)); err == nil && info.IsDir() {
		return filepath.Join(named, folder), nil
	}
	for _, name := range officialFiles {
		if _, err := os.Stat(filepath.Join(named, name)); err == nil {
			return named, nil
		}
	}
	return "", fmt.Errorf("cifar10: the data folder (TVPS_DATA) %s has neither a folder %s nor a file like %s; "+
		"correct it, or unset it to use the cache or the embedded sample", named, folder, officialFiles[0])
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
