package collected

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dataSet is a data set. Rows are in the order of their steps.
type dataSet struct {
	X      []float32 // [rows, Dim]
	Dim    int
	Label  []int32   // of each row, 0 to classes - 1
	Values []float64 // the labels as in the files, in order
	First  []int     // the first row of each step, then the number of rows
	Names  []string  // of the files
	SHA256 string    // of the files' names and contents
}

// classes is the number of different labels.
func (s *dataSet) classes() int { return len(s.Values) }

// steps is the number of steps.
func (s *dataSet) steps() int { return len(s.Names) }

// ending are the names of the files that are read.
var ending = regexp.MustCompile(`\.(dat|svm|libsvm|txt)$`)

// number is the last number in a name, by which files are ordered.
var number = regexp.MustCompile(`\d+`)

// load reads the files *.dat, *.svm, *.libsvm and *.txt of a folder, in the order of the last number in their names.
// A line is a label and pairs INDEX:VALUE, with indices that rise from 1; what a line does not name is 0. A label may
// be followed by ";" and a number, the concentration of a gas, which is left out. Errors name file and line.
func load(dir string) (*dataSet, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("steps: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && ending.MatchString(e.Name()) && number.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) < 2 {
		return nil, fmt.Errorf("steps: %s has %d numbered files such as batch1.dat, one for each step: "+
			"at least two are needed", dir, len(names))
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	s := &dataSet{Names: names}
	hash := sha256.New()
	var labels []float64
	var rows [][]float32
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("steps: %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n", name, len(text))
		hash.Write(text)
		s.First = append(s.First, len(rows))
		if labels, rows, err = parse(text, labels, rows); err != nil {
			return nil, fmt.Errorf("steps: %s: %w", filepath.Join(dir, name), err)
		}
		if len(rows) == s.First[len(s.First)-1] {
			return nil, fmt.Errorf("steps: %s has no row", filepath.Join(dir, name))
		}
	}
	s.First, s.SHA256 = append(s.First, len(rows)), fmt.Sprintf("%x", hash.Sum(nil))
	s.fill(labels, rows)
	return s, nil
}

func numberOf(name string) int {
	all := number.FindAllString(name, -1)
	n, _ := strconv.Atoi(all[len(all)-1]) // of too many digits it is the largest number
	return n
}

// parse adds the labels and rows of a file. A row ends with the last value that its line names.
func parse(text []byte, labels []float64, rows [][]float32) ([]float64, [][]float32, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for at := 1; lines.Scan(); at++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		first, _, _ := strings.Cut(fields[0], ";")
		label, err := strconv.ParseFloat(first, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %q is no label, a number", at, fields[0])
		}
		var row []float32
		for _, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			i, errI := strconv.Atoi(index)
			v, errV := strconv.ParseFloat(value, 32)
			if errI != nil || errV != nil || i <= len(row) || i > 1<<20 || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, fmt.Errorf("line %d: %q is no pair INDEX:VALUE with an index above %d", at, field, len(row))
			}
			row = append(append(row, make([]float32, i-1-len(row))...), float32(v))
		}
		labels, rows = append(labels, label), append(rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, nil, err
	}
	return labels, rows, nil
}

// fill makes the arrays.
func (s *dataSet) fill(labels []float64, rows [][]float32) {
	s.Values = slices.Clone(labels)
	slices.Sort(s.Values)
	s.Values = slices.Compact(s.Values)
	for _, row := range rows {
		s.Dim = max(s.Dim, len(row))
	}
	s.X = make([]float32, len(rows)*s.Dim)
	for r, row := range rows {
		copy(s.X[r*s.Dim:], row)
		class, _ := slices.BinarySearch(s.Values, labels[r])
		s.Label = append(s.Label, int32(class))
	}
}
