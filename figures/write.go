package figures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tvps/data/artifact"
)

// file is a finished file before it is written.
type file struct {
	name    string
	content []byte
}

// ProvenanceFile is the name of the file with the figure's provenance.
const ProvenanceFile = "provenance.json"

// panelFiles are the endings of the names of a panel's files.
var panelFiles = []string{".csv", ".svg", ".png", ".pdf"}

// Write draws the figure into the folder dir, which it makes if needed: for each panel
// <name>-<key>.csv (that panel's rows), .svg, .png, .pdf, its films and, if claims are judged
// by other rows, <name>-<key>-judged.csv, then provenance.json (provenance as JSON),
// [ScriptFile], index.html and [SumsFile]. A file of judged rows that
// an earlier drawing of a panel left is removed if the panel has none.
//
// Everything is drawn before anything is written. Each file is written under a temporary
// name, and the files get their names only when all are complete: a reader never sees a
// partial file, and an error before that leaves the files in the folder as they were. SumsFile
// gets its name last: until then it shows that the files are of two drawings.
func Write(fig Figure, rows []Row, provenance any, dir string) error {
	files, err := render(fig, rows, provenance)
	if err != nil {
		return err
	}
	if err := artifact.MakeFolder(dir); err != nil {
		return unwritable(fig, dir, err)
	}
	var pending []*artifact.Pending
	defer func() {
		for _, p := range pending {
			p.Cleanup() // does nothing to files that have their names
		}
	}()
	for _, f := range files {
		p, err := artifact.Create(filepath.Join(dir, f.name), 0o644)
		if err != nil {
			return unwritable(fig, dir, named(err, f.name))
		}
		pending = append(pending, p)
		if _, err := p.Write(f.content); err != nil {
			return unwritable(fig, dir, named(err, f.name))
		}
	}
	if err := artifact.Commit(pending...); err != nil {
		return unwritable(fig, dir, err)
	}
	return removeStale(fig, dir)
}

// removeStale removes the tables of an earlier drawing of panels that have no rows for them.
func removeStale(fig Figure, dir string) error {
	for _, p := range fig.Panels {
		for _, t := range fig.notDrawn(p) {
			if len(t.rows) > 0 {
				continue
			}
			if err := os.Remove(filepath.Join(dir, t.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return unwritable(fig, dir, named(err, t.name))
			}
		}
	}
	return nil
}

// named is an error with the file's own name instead of the temporary one.
func named(err error, name string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func unwritable(fig Figure, dir string, err error) error {
	return fmt.Errorf("figures: cannot write %s to %s, choose another output folder: %w", fig.Name, dir, err)
}

// render makes the content of all files, the checksums last.
func render(fig Figure, rows []Row, provenance any) ([]file, error) {
	if err := fig.Validate(); err != nil {
		return nil, err
	}
	var files []file
	for _, p := range fig.Panels {
		own := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Panel != p.Key })
		drawn, err := renderPanel(fig, p, own)
		if err != nil {
			return nil, err
		}
		files = append(files, drawn...)
	}
	origin, err := json.MarshalIndent(provenance, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("figures: the provenance of %s cannot be written as JSON: %w", fig.Name, err)
	}
	page, err := Page(fig)
	if err != nil {
		return nil, err
	}
	files = append(files, file{ProvenanceFile, append(origin, '\n')}, file{ScriptFile, ECharts})
	return append(files, file{"index.html", page}, sumsOf(files)), nil
}

func renderPanel(fig Figure, p Panel, rows []Row) ([]file, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("figures: %s panel %s: there are no rows for its CSV", fig.Name, p.Key)
	}
	table, err := tableFile(fig.FileStem(p)+".csv", rows)
	if err != nil {
		return nil, err
	}
	files := []file{table}
	s := newSheet(fig, p)
	for i, draw := range []func() ([]byte, error){s.svg, s.png, s.pdf} {
		picture, err := draw()
		if err != nil {
			return nil, err
		}
		files = append(files, file{fig.FileStem(p) + panelFiles[i+1], picture})
	}
	for _, film := range p.Films {
		files = append(files, file{fig.FilmStem(p, film) + ".svg", film.SVG})
	}
	for _, t := range fig.notDrawn(p) {
		if len(t.rows) == 0 {
			continue
		}
		table, err := tableFile(t.name, t.rows)
		if err != nil {
			return nil, err
		}
		files = append(files, table)
	}
	return files, nil
}

func tableFile(name string, rows []Row) (file, error) {
	var table bytes.Buffer
	err := WriteCSV(&table, rows)
	return file{name, table.Bytes()}, err
}
