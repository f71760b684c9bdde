package paper

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/replicate/continual"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"
)

// LabOptions say what a lab computes with and where it keeps the runs.
type LabOptions struct {
	Backend string          // as --backend; empty for the default
	Open    backend.Options // how the backend is opened
	Results string          // folder of the runs
	Stdout  io.Writer       // tables
	Stderr  io.Writer       // progress
}

// OpenLab opens the backend and the store: the one way in for the command line and the
// notebooks.
func OpenLab(ctx context.Context, o LabOptions) (*Lab, error) {
	if err := CheckBackend(o.Backend); err != nil {
		return nil, err
	}
	cache, err := artifact.CacheDir()
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(ctx, o.Backend, o.Open)
	if err != nil {
		return nil, err
	}
	store, err := runs.Open(o.Results)
	if err != nil {
		return nil, err
	}
	return &Lab{Env: &continual.Env{Backend: b, CacheDir: cache, Log: o.Stderr}, Store: store, Stdout: o.Stdout, Stderr: o.Stderr}, nil
}

// CheckBackend refuses what is neither a backend's name nor the path of a file.
func CheckBackend(name string) error {
	known := []string{backend.XLACPU, backend.XLACUDA, backend.Go}
	if name == backend.Default || slices.Contains(known, name) || strings.ContainsRune(name, filepath.Separator) {
		return nil
	}
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	return usage.Errorf("the backend %q is neither %s nor the path of a PJRT plugin; did you mean %q?", name, strings.Join(known, ", "), settings.Nearest(name, known))
}

// ParseSeeds reads "0,1,2" or "0-7" or a mixture.
func ParseSeeds(text string) ([]int64, error) {
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseInt(from, 10, 32)
		b, errB := strconv.ParseInt(to, 10, 32)
		if errA != nil || errB != nil || a < 0 || b < a || b-a > 1000 {
			return nil, usage.Errorf("%q is neither a seed nor a range such as 0-7", part)
		}
		for s := a; s <= b; s++ {
			if slices.Contains(out, s) {
				return nil, usage.Errorf("%q names seed %d twice", text, s)
			}
			out = append(out, s)
		}
	}
	return out, nil
}
