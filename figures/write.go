package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// file is a finished file that waits to be written.
type file struct {
	name    string
	content []byte
}

// Write draws the figure into the folder dir, which it makes if need be: for each panel
// <name>-<key>.csv (that panel's rows), .svg, .png and its films, then provenance.json (provenance
// as JSON) and index.html.
//
// Everything is drawn before anything is written, each file is written under a
// temporary name, and only when all are there do they get their names: a reader never
// sees half a file, and an error before that leaves the files in the folder as they were.
func Write(fig Figure, rows []Row, provenance any, dir string, options ...Option) error {
	files, err := render(fig, rows, provenance, options)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unwritable(fig, dir, err)
	}
	for _, f := range files {
		if at, err := os.Lstat(filepath.Join(dir, f.name)); err == nil && at.IsDir() {
			return unwritable(fig, dir, fmt.Errorf("%s is a folder there", f.name))
		}
	}
	var pending []*renameio.PendingFile
	defer func() {
		for _, p := range pending {
			p.Cleanup() // does nothing to files that have got their names
		}
	}()
	for _, f := range files {
		p, err := renameio.NewPendingFile(filepath.Join(dir, f.name), renameio.WithTempDir(dir), renameio.WithPermissions(0o644))
		if err != nil {
			return unwritable(fig, dir, err)
		}
		pending = append(pending, p)
		if _, err := p.Write(f.content); err != nil {
			return unwritable(fig, dir, err)
		}
	}
	for _, p := range pending {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return unwritable(fig, dir, err)
		}
	}
	return nil
}

func unwritable(fig Figure, dir string, err error) error {
	return fmt.Errorf("figures: cannot write %s to %s, choose another output folder: %w", fig.Name, dir, err)
}

// render makes the content of all files, index.html last.
func render(fig Figure, rows []Row, provenance any, options []Option) ([]file, error) {
	if err := fig.Validate(); err != nil {
		return nil, err
	}
	var files []file
	for _, p := range fig.Panels {
		own, err := renderPanel(fig, p, panelRows(rows, p.Key))
		if err != nil {
			return nil, err
		}
		files = append(files, own...)
	}
	origin, err := json.MarshalIndent(provenance, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("figures: the provenance of %s cannot be written as JSON: %w", fig.Name, err)
	}
	page, err := Page(fig, options...)
	if err != nil {
		return nil, err
	}
	return append(files, file{"provenance.json", append(origin, '\n')}, file{"index.html", page}), nil
}

func renderPanel(fig Figure, p Panel, rows []Row) ([]file, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("figures: %s panel %s: there are no rows for its CSV", fig.Name, p.Key)
	}
	var table bytes.Buffer
	if err := WriteCSV(&table, rows); err != nil {
		return nil, err
	}
	svg, err := SVG(fig, p.Key)
	if err != nil {
		return nil, err
	}
	png, err := PNG(fig, p.Key)
	if err != nil {
		return nil, err
	}
	stem := fig.FileStem(p)
	files := []file{{stem + ".csv", table.Bytes()}, {stem + ".svg", svg}, {stem + ".png", png}}
	for _, film := range p.Films {
		files = append(files, file{fig.FilmStem(p, film) + ".svg", film.SVG})
	}
	return files, nil
}
