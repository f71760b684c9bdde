package figures

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tvps/data/artifact"
)

// file is a finished file before it is written.
type file struct {
	name    string
	content []byte
}

// Names of files in a figure's folder: the figure's provenance and its page.
const (
	ProvenanceFile = "provenance.json"
	PageFile       = "index.html"
)

// pictures are the endings of the names of a panel's pictures.
var pictures = []string{".svg", ".png", ".pdf"}

// stored is the name of a file in a figure's folder, "" if the folder is compact and has none: one picture a panel and
// no page, tables and provenance compressed.
func (f Figure) stored(name string) string {
	switch extension := filepath.Ext(name); {
	case !f.Compact:
	case extension == ".png", extension == ".pdf", extension == ".js", extension == ".html":
		return ""
	case extension == ".csv", name == ProvenanceFile:
		return name + packed
	}
	return name
}

// packed ends the names of compressed files.
const packed = ".gz"

// Write draws the figure into the folder dir, which it makes if needed: for each panel
// <name>-<key>.csv (that panel's rows), .svg, .png, .pdf and, if claims are judged
// by other rows, <name>-<key>-judged.csv, and the like, then provenance.json (provenance as JSON),
// [ScriptFile], [PageFile] and [SumsFile]. If the figure is Compact, the folder has no .png,
// .pdf, script and page, and tables and provenance are compressed (.gz). Files of an earlier drawing
// that this one does not have are removed, also those of panels that are not drawn again.
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
	if err = writeFiles(files, dir); err == nil {
		err = removeStale(fig, files, dir)
	}
	return unwritable(fig, dir, err)
}

// WriteTable writes rows and their provenance into the folder dir, compressed, as [OpenFolder] reads them: NAME.csv.gz,
// provenance.json.gz and [SumsFile].
func WriteTable(name string, rows []Row, provenance any, dir string) error {
	fig := Figure{Name: name, Compact: true}
	table, err := tableFile(name+".csv", rows)
	if err != nil {
		return err
	}
	origin, err := json.Marshal(provenance)
	if err != nil {
		return fmt.Errorf("figures: the provenance of %s cannot be written as JSON: %w", name, err)
	}
	files := store(fig, []file{table, {ProvenanceFile, append(origin, '\n')}})
	return unwritable(fig, dir, writeFiles(append(files, sumsOf(files)), dir))
}

// writeFiles writes all files of a folder, or none.
func writeFiles(files []file, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
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
			return named(err, f.name)
		}
		pending = append(pending, p)
		if _, err := p.Write(f.content); err != nil {
			return named(err, f.name)
		}
	}
	return artifact.Commit(pending...)
}

// removeStale removes the files of an earlier drawing that are not among the present ones, of other panels, too.
func removeStale(fig Figure, files []file, dir string) error {
	drawn := regexp.MustCompile(`^(` + regexp.QuoteMeta(fig.Name) +
		`-[a-z](-judged|-metrics|-others)?\.(csv|svg|png|pdf)|` +
		ProvenanceFile + `|` + ScriptFile + `|` + PageFile + `)(\.gz)?$`)
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		if drawn.MatchString(name) && !slices.ContainsFunc(files, func(f file) bool { return f.name == name }) {
			err = errors.Join(err, named(os.Remove(filepath.Join(dir, name)), name))
		}
	}
	return err
}

// named is an error with the file's own name instead of the temporary one.
func named(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, artifact.WithoutPath(err))
}

func unwritable(fig Figure, dir string, err error) error {
	if err == nil {
		return nil
	}
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
	files = store(fig, append(files, file{ProvenanceFile, append(origin, '\n')}, file{ScriptFile, ECharts}))
	if fig.Compact {
		return append(files, sumsOf(files)), nil
	}
	page, err := Page(fig)
	return slices.Concat([]file{{PageFile, page}}, files, []file{sumsOf(files)}), err // the page shows whose the rest is
}

// store gives files the names and the form that they have in the figure's folder.
func store(fig Figure, files []file) []file {
	var out []file
	for _, f := range files {
		name := fig.stored(f.name)
		if strings.HasSuffix(name, packed) {
			var text bytes.Buffer // to write to it is never an error
			w, _ := gzip.NewWriterLevel(&text, gzip.BestCompression)
			_, _ = w.Write(f.content)
			_ = w.Close()
			f.content = text.Bytes()
		}
		if name != "" {
			out = append(out, file{name, f.content})
		}
	}
	return out
}

func renderPanel(fig Figure, p Chart, rows []Row) ([]file, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("figures: %s panel %s: there are no rows for its CSV", fig.Name, p.Key)
	}
	var files []file
	for _, t := range append([]panelTable{{DrawnTable, rows}}, p.notDrawn()...) {
		table, err := tableFile(Stem(fig.Name, p.Key)+t.ending, t.rows)
		if err != nil {
			return nil, err
		}
		files = append(files, table)
	}
	s := newSheet(fig, p)
	for i, draw := range []func() ([]byte, error){s.svg, s.png, s.pdf} {
		name := Stem(fig.Name, p.Key) + pictures[i]
		if fig.stored(name) == "" {
			continue
		}
		picture, err := draw()
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, picture})
	}
	return files, nil
}

func tableFile(name string, rows []Row) (file, error) {
	var table bytes.Buffer
	err := WriteCSV(&table, rows)
	return file{name, table.Bytes()}, err
}
