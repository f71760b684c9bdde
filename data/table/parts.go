package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// part is a file of a table.
type part struct {
	name        string
	r           io.ReaderAt
	size        int64
	folders     [][2]string // columns that folders name, as year=2024: name and value
	compression string
	windows     bool   // it is Windows-1252
	starts      string // what a field may begin after, if a quote elsewhere is text
	delim       byte   // 0: found
	first, end  int    // its rows in the table, once they are counted
}

// Files lists the files of a table in sorted order: path itself, all in a folder and the folders in it, or all that
// match a pattern such as part-*.csv. Files and folders whose names begin with . or _ are left out. Errors are of type
// *Error.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist) || runtime.GOOS == "windows" && err != nil // of which no name has a * or ?
	roots := []string{path}
	switch {
	case err == nil && info.IsDir():
		roots[0] += string(filepath.Separator) // it may be a link
	case missing && strings.Contains(path, "**"):
		return nil, &Error{File: path, Problem: "** is no pattern", Fix: "name the folder, which is read with those in it"}
	case missing && strings.ContainsAny(path, "*?["):
		if roots, err = filepath.Glob(path); err == nil && len(roots) == 0 {
			err = errors.New("no file matches the pattern")
		}
	}
	var files []string
	for i := 0; i < len(roots) && err == nil; i++ {
		err = filepath.WalkDir(roots[i], func(file string, d fs.DirEntry, err error) error {
			name := filepath.Base(file)
			skip := strings.ContainsAny(name[:1], "._") && name != filepath.Base(path)
			switch {
			case err != nil:
				return err
			case name == "_delta_log" || name == ".hoodie":
				return &Error{File: path, Problem: "the log " + name + " says which files belong to the table, and is not read",
					Fix: "write the table to one Parquet file"}
			case skip && d.IsDir():
				return fs.SkipDir
			case !skip && !d.IsDir():
				files = append(files, file)
			}
			return nil
		})
	}
	var e *Error
	if err == nil && len(files) == 0 {
		return nil, &Error{File: path, Problem: "there is no file, apart from those whose names begin with . or _",
			Fix: "name a folder of CSV or Parquet files"}
	} else if err != nil && !errors.As(err, &e) {
		err = &Error{File: path, Problem: "cannot be opened: " + cause(err), Fix: "check the name", Err: err}
	}
	slices.Sort(files)
	return files, err
}

// open opens the files of a table, and finds the columns that their folders below path name.
func open(path string) (parts []*part, err error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	root := filepath.Clean(path)
	if at := strings.IndexAny(root, "*?["); at >= 0 {
		root = filepath.Dir(root[:at] + "x")
	}
	texts := map[string]bool{} // columns of folders that are not all integers
	for _, name := range files {
		info, err := os.Stat(name) // before it is opened: a pipe without a writer would wait forever
		if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return parts, &Error{File: name, Problem: "is a pipe, and a table is read more than once",
				Fix: "save it to a file first; CSV may be compressed with gzip or zstd"}
		} else if err == nil && !info.Mode().IsRegular() {
			return parts, &Error{File: name, Problem: "is not a file", Fix: "give a CSV or Parquet file, or a folder of them"}
		}
		file, err := os.Open(name)
		if err != nil {
			return parts, &Error{File: name, Problem: "cannot be opened: " + cause(err), Fix: "check the name", Err: err}
		}
		p := &part{name: name, r: file, size: info.Size()}
		parts = append(parts, p)
		below := strings.Split(filepath.ToSlash(strings.TrimPrefix(name, root)), "/")
		for _, folder := range below[:len(below)-1] {
			if key, value, is := strings.Cut(folder, "="); is {
				if plain, err := url.PathUnescape(value); err == nil {
					value = plain
				}
				if value == "__HIVE_DEFAULT_PARTITION__" { // as Hive writes a missing value
					value = ""
				}
				_, err := strconv.ParseInt(value, 10, 64)
				texts[key] = texts[key] || err != nil && value != ""
				p.folders = append(p.folders, [2]string{key, value})
			}
		}
	}
	for _, p := range parts {
		for i, f := range p.folders {
			if v, err := strconv.ParseInt(f[1], 10, 64); err == nil && !texts[f[0]] {
				p.folders[i][1] = strconv.FormatInt(v, 10) // month=03 is 3
			}
		}
	}
	return parts, nil
}

// place says in which part a row of the table is, and in which row of it; both count from 1.
func place(parts []*part, row int) (p *part, in int) {
	for _, q := range parts {
		if p == nil || q.first < row {
			p = q
		}
	}
	return p, row - p.first
}

// placed adds the file to an error about the table. p: the file, if the error has no row.
func (in *input) placed(err error, p *part) error {
	if e, ok := errors.AsType[*Error](err); ok && e.File == "" {
		if e.Row > 0 {
			p, e.Row = place(in.parts, e.Row)
		}
		e.File = p.name
	}
	return err
}

// same refuses a part whose columns are not those of the first one.
func (in *input) same(p *part, names []string) error {
	if in.names == nil {
		in.names = names
	}
	first, e := in.parts[0].name, &Error{File: p.name, Fix: "files of one table need the same columns in the same order"}
	for i := range max(len(names), len(in.names)) {
		switch {
		case i < len(in.names) && !slices.Contains(names, in.names[i]):
			e.Problem = fmt.Sprintf("there is no column %s, which %s has", quote(in.names[i]), first)
		case i < len(names) && !slices.Contains(in.names, names[i]):
			e.Problem = fmt.Sprintf("column %s is not in %s", quote(names[i]), first)
		case names[i] != in.names[i]:
			e.Problem = fmt.Sprintf("column %d is %s, but in %s it is %s", i+1, quote(names[i]), first, quote(in.names[i]))
		default:
			continue
		}
		return e
	}
	return nil
}

// note adds a note on a part, once.
func (in *input) note(p *part, text string) {
	if len(in.parts) > 1 {
		text = p.name + ": " + text
	}
	if !slices.Contains(in.notes, text) {
		in.notes = append(in.notes, text)
	}
}
