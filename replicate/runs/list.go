package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tvps/data/artifact"
)

// Specs lists the finished runs, then those with a file of finished steps, each by experiment, learner, seed and ID. It
// reads only the first line of each file: a file that it cannot read, or with a damaged one, is left out, and Read may
// still find others damaged. A finished run to which steps were being added when it was interrupted is listed twice.
// The error is for a folder that cannot be listed.
func (s *Store) Specs() ([]Spec, error) {
	finished, _, err := s.list(fileSuffix, finishedSpec)
	if err != nil {
		return nil, err
	}
	unfinished, _, err := s.list(partialSuffix, firstSpec)
	return slices.Concat(finished, unfinished), err
}

// Unreadable lists the files of finished runs that do not tell which run they hold: they count as missing.
func (s *Store) Unreadable() ([]string, error) {
	_, unreadable, err := s.list(fileSuffix, finishedSpec)
	return unreadable, err
}

// list reads the specs of all files of one kind, except temporary ones, and lists the files of which it cannot.
func (s *Store) list(suffix string, read func(io.Reader) (Spec, error)) (specs []Spec, unreadable []string, err error) {
	folders, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("results folder %s cannot be read: %w", s.dir, artifact.WithoutPath(err))
	}
	for _, folder := range folders {
		experiment := folder.Name()
		if strings.HasPrefix(experiment, ".") {
			continue
		}
		path := filepath.Join(s.dir, experiment)
		entries, err := os.ReadDir(path)
		if err != nil && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("results folder %s cannot be read: %w", path, artifact.WithoutPath(err))
		}
		for _, entry := range entries {
			id, ok := strings.CutSuffix(entry.Name(), suffix)
			if !ok || strings.HasPrefix(id, ".") {
				continue
			}
			name := filepath.Join(path, entry.Name())
			var spec Spec
			file, err := os.Open(name)
			if err == nil {
				spec, err = read(file)
				file.Close()
			}
			if err == nil && spec.ID() == id && spec.Experiment == experiment {
				specs = append(specs, spec)
			} else {
				unreadable = append(unreadable, name)
			}
		}
	}
	slices.SortStableFunc(specs, func(a, b Spec) int { // each experiment's files come sorted by ID
		return cmp.Or(strings.Compare(a.Experiment, b.Experiment), strings.Compare(a.Learner, b.Learner),
			cmp.Compare(a.Seed, b.Seed))
	})
	return specs, unreadable, nil
}

// firstSpec reads the spec in the first line of a run's file, finished or not.
func firstSpec(file io.Reader) (spec Spec, err error) {
	line, err := firstLine(file)
	if err == nil {
		err = json.Unmarshal(line, &struct{ Spec *Spec }{&spec})
	}
	return spec, err
}
