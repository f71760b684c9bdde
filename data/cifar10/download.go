package cifar10

import (
	"context"
	"fmt"
	"io"

	"tvps/data/artifact"
)

// Download puts the six official files into the cache and returns their folder. If they are
// there, it does nothing. It replaces damaged files. Several processes may call it at the same time.
func Download(ctx context.Context, log io.Writer) (dir string, err error) {
	if dir, err = artifact.CacheDir(folder); err != nil {
		return "", err
	}
	if _, err := artifact.CIFAR10.Unpack(ctx, dir, artifact.Options{Log: log}); err != nil {
		return "", err
	}
	return dir, nil
}

// Verify returns nil if dir holds the six official files, by SHA-256. The error names the
// first file that is missing or differs. It takes under a second.
func Verify(dir string) error {
	for _, m := range artifact.CIFAR10.Members {
		path := m.In(dir)
		got, err := artifact.SHA256(path)
		if err != nil {
			return fmt.Errorf("cifar10: cannot check the data: %w; %s", err, remedy)
		}
		if got != m.SHA256 {
			return fmt.Errorf("cifar10: %s is not the official file: its SHA-256 is %s instead of %s; %s",
				path, got, m.SHA256, remedy)
		}
	}
	return nil
}
