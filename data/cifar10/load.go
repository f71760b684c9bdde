package cifar10

import (
	"fmt"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

// folder is the folder of the files in the official archive and in the cache.
const folder = "cifar-10-batches-bin"

// Load returns CIFAR-10 from the first of these places:
//
//  1. TVPS_DATA: the folder of the six .bin files, or one that contains cifar-10-batches-bin;
//  2. the data cache, where Download puts it: cifar-10-batches-bin in artifact.CacheDir;
//  3. the sample embedded in the program.
//
// If a named folder or the folder in the cache does not hold the complete set, that is an
// error: Load never continues with the next place. Data.Source says what was used.
func Load() (*Data, error) {
	dir, err := Find()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return Sample()
	}
	return readDir(dir)
}

// Find returns the folder that Load would read, or "" for the embedded sample.
func Find() (string, error) {
	named := os.Getenv("TVPS_DATA")
	if named == "" {
		return artifact.InCache(folder)
	}
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
