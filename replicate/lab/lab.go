// Package lab makes figures: it turns a declaration of package paper into runs, charts, tables and verdicts. It plans
// the runs of a figure, lets package runs compute the missing ones, summarises their rows, judges the claims and
// describes the charts that package figures draws. It uses scenarios and learners only through package experiment.
// Figures are passed in as declarations, so other figures are made like those of the paper.
package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Lab computes, draws and judges the figures of a catalog.
type Lab struct {
	Catalog
	claims.Archive
	Stdout io.Writer // tables
	Stderr io.Writer // progress
}

// OpenOptions are the backend, the folder of the runs and the outputs of a lab.
type OpenOptions struct {
	Backend string          // name; empty for the default
	Open    backend.Options // how the backend is opened
	Results string          // folder of the runs
	Tables  string          // folder of drawn figures whose runs stand in for missing ones, for OpenStored; "" for none
	Stdout  io.Writer       // tables
	Stderr  io.Writer       // progress
}

// Open opens the backend and the store, for the command line and the notebooks. Errors: an unknown backend (a usage
// error), one that cannot be opened, a cache or store that cannot be used.
func Open(ctx context.Context, c Catalog, o OpenOptions) (*Lab, error) {
	if err := CheckBackend(o.Backend); err != nil {
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
	return c.lab(o, b, claims.Archive{Store: store})
}

// lab is a lab with a backend and the stored runs.
func (c Catalog) lab(o OpenOptions, b *backend.Backend, stored claims.Archive) (*Lab, error) {
	cache, err := artifact.CacheDir()
	stored.Host = &experiment.Host{Backend: b, CacheDir: cache, Log: o.Stderr}
	return &Lab{Catalog: c, Archive: stored, Stdout: o.Stdout, Stderr: o.Stderr}, err
}

// OpenStored opens a lab that draws and judges the stored runs of a folder, whichever machine computed them, and those
// of tables. It opens no backend, and its methods that compute runs must not be called. Errors: those of runs.Open and
// claims.ReadTables, and a folder that cannot be listed.
func OpenStored(c Catalog, o OpenOptions) (l *Lab, err error) {
	a := claims.Archive{}
	if o.Tables != "" {
		if a.Tables, err = claims.ReadTables(c.Figures, o.Tables); err != nil {
			return nil, err
		}
	}
	if a.Store, err = runs.Open(o.Results); err != nil {
		return nil, err
	}
	if a.Index, err = claims.NewRunIndex(a.Store); err != nil {
		return nil, err
	}
	a.Index.Add(a.Tables.Specs()...)
	if o.Backend != backend.Default {
		a.Index.Backends = []string{o.Backend}
	}
	return c.lab(o, &backend.Backend{}, a)
}

// CheckBackend returns a usage error if name is no backend.
func CheckBackend(name string) error {
	known := []string{backend.XLACPU, backend.XLACUDA, backend.Go}
	if name == backend.Default || slices.Contains(known, name) {
		return nil
	}
	return usage.Errorf("the backend %q is none of %s%s",
		name, strings.Join(known, ", "), usage.Proposal(name, known))
}

// backends are the names of the backends of the panels' runs, sorted. own is that of the lab which computed them, empty
// if any machine did.
func backends(panels []claims.Collected, own string) []string {
	if own != "" {
		return []string{own}
	}
	var names []string
	for _, c := range panels {
		for _, result := range c.Results {
			if name := result.Spec.Settings["backend"]; name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// backendsOf is "backend xla:cpu", or "backends" with all of them.
func backendsOf(panels []claims.Collected, own string) string {
	names := backends(panels, own)
	if len(names) == 1 {
		return "backend " + names[0]
	}
	return "backends " + strings.Join(names, ", ")
}

// Provenance returns what every run and figure records about its origin.
func (l *Lab) Provenance() runs.Provenance {
	info := l.Host.Backend.Info
	versions := map[string]string{"plugin": info.PluginVersion, "plugin-sha256": info.PluginSHA256}
	return runs.NewProvenance(info.Name, versions)
}

// keepOthers returns a usage error if the page in the output folder of a figure, or the list of tables in that of a
// compact one, is not its own.
func (o Options) keepOthers(f paper.Figure) error {
	mark := fmt.Sprintf(`<meta name="generator" content="tvps %s">`, f.Name())
	return cmp.Or(usage.KeepPage(filepath.Join(o.Out, figures.PageFile), "is no page of "+f.Command(), mark),
		usage.KeepPage(filepath.Join(o.Out, figures.SumsFile), "lists no tables of "+f.Command(), f.Name()+"-"))
}
