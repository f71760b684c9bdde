// Package lab makes figures: a declaration of package paper goes in; runs, charts, tables and verdicts come out. It plans
// which runs a figure is made of, has package runs compute what is missing, condenses their rows, judges the claims and
// describes the charts that package figures draws. It knows scenarios and learners only through package protocol, and
// figures only as declarations that are passed in, so that anyone's figure is made like the paper's.
package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"
)

// Lab computes, draws and judges the figures of a catalog.
type Lab struct {
	Catalog
	Host   *protocol.Host
	Store  *runs.Store
	Stdout io.Writer // tables
	Stderr io.Writer // progress

	done *runs.Report // of the runs that All has completed; nil outside of it
}

// OpenOptions say what a lab computes with and where it keeps the runs.
type OpenOptions struct {
	Backend string          // as --backend; empty for the default
	Open    backend.Options // how the backend is opened
	Results string          // folder of the runs
	Stdout  io.Writer       // tables
	Stderr  io.Writer       // progress
}

// Open opens the backend and the store, for the command line and the notebooks alike.
func Open(ctx context.Context, c Catalog, o OpenOptions) (*Lab, error) {
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
	host := &protocol.Host{Backend: b, CacheDir: cache, Log: o.Stderr}
	return &Lab{Catalog: c, Host: host, Store: store, Stdout: o.Stdout, Stderr: o.Stderr}, nil
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
	return usage.Errorf("the backend %q is neither %s nor the path of a PJRT plugin; did you mean %q?",
		name, strings.Join(known, ", "), settings.Nearest(name, known))
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

// backendName is the backend without the folder of a plugin that was named by its path.
func (l *Lab) backendName() string { return filepath.Base(l.Host.Backend.Info.Name) }

// Provenance is the template of what each run and figure records of its origin.
func (l *Lab) Provenance() runs.Provenance {
	info := l.Host.Backend.Info
	return runs.NewProvenance(info.Name, map[string]string{"plugin": info.PluginVersion,
		"plugin-sha256": info.PluginSHA256})
}

// CheckOut tells whether the output folder can be written, before anything is computed that could not be drawn.
func (o Options) CheckOut() error {
	if err := runs.TryWrite(o.Out); err != nil {
		return fmt.Errorf("the output folder %s cannot be written (%w): make it writable or choose another", o.Out,
			err)
	}
	return nil
}
