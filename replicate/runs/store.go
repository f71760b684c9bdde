package runs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tvps/data/artifact"
)

// A file's name is the run's ID and one of these.
const (
	fileSuffix    = ".jsonl.zst"     // of a finished run
	partialSuffix = ".partial.jsonl" // of an unfinished run: its finished steps
	stateSuffix   = ".state"         // from which a group continues
	failedSuffix  = ".failed.json"   // why it stopped
	lockSuffix    = ".lock"          // is locked while a process computes it
)

// Store is a folder of runs: one file <experiment>/<id>.jsonl.zst for each
// finished one. Several processes may use the same folder at once.
type Store struct{ dir string }

// Open opens the folder dir. The first run that is computed makes it: until then it may be missing, or be one that can
// only be read. It returns a *FolderError if dir is a file, or cannot be looked at.
func Open(dir string) (*Store, error) {
	switch info, err := os.Stat(dir); {
	case err == nil && !info.IsDir():
		return nil, &FolderError{Dir: dir, Problem: "is a file"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, &FolderError{Dir: dir, Problem: "cannot be used", Err: err}
	}
	return &Store{dir}, nil
}

// checkWritable returns a *FolderError if nothing can be written into the experiment's folder.
func (s *Store) checkWritable(experiment string) error {
	folder := filepath.Join(s.dir, experiment)
	if err := artifact.TryWrite(folder); err != nil {
		return &FolderError{Dir: folder, Problem: "cannot be written", Err: err}
	}
	return nil
}

// path returns the name of one of the run's files.
func (s *Store) path(spec Spec, suffix string) string {
	return filepath.Join(s.dir, spec.Experiment, spec.ID()+suffix)
}

func (s *Store) donePath(spec Spec) string    { return s.path(spec, fileSuffix) }
func (s *Store) partialPath(spec Spec) string { return s.path(spec, partialSuffix) }
func (s *Store) failedPath(spec Spec) string  { return s.path(spec, failedSuffix) }
func (s *Store) lockPath(spec Spec) string    { return s.path(spec, lockSuffix) }

// Read returns a finished run, or an error that matches ErrMissing if there is none. A damaged file stays and is a
// *DamagedError, until the run is computed again.
func (s *Store) Read(spec Spec) (*Result, error) {
	path := s.donePath(spec)
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%w: %s", ErrMissing, spec)
	case err != nil:
		return nil, fmt.Errorf("result file %s cannot be read (%w): check its permissions and the disk", path, artifact.WithoutPath(err))
	}
	result, err := decodeResult(data)
	switch {
	case errors.As(err, new(newerError)):
		return nil, fmt.Errorf("result file %s cannot be read: %w", path, err)
	case err != nil:
		return nil, &DamagedError{Path: path, Reason: err.Error()}
	case result.Spec.ID() != spec.ID():
		return nil, &DamagedError{Path: path, Reason: "it holds another run, " + result.Spec.String()}
	}
	return result, nil
}

// unfinished reads the finished steps of an unfinished run; none if there is no such file, or it cannot be read.
func (s *Store) unfinished(spec Spec) (*partial, error) {
	path := s.partialPath(spec)
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return newPartial(), nil
	}
	if err != nil {
		return newPartial(), fmt.Errorf("the finished steps of %s cannot be read: %w", spec, err)
	}
	return parsePartial(data, spec.ID()), nil
}

// save writes a finished run in one atomic step and removes the files that it replaces. The caller holds the run's
// lock.
func (s *Store) save(result *Result) error {
	path := s.donePath(result.Spec)
	// The file lasts before those that it replaces are removed.
	if err := artifact.Replace(path, encodeResult(result), 0o644); err != nil {
		return &WriteError{"result file", path, err}
	}
	s.removeReplaced(result.Spec)
	return nil
}

// removeReplaced removes the files that a finished run has no use for, also those that killed processes had begun.
// The caller holds the run's lock.
func (s *Store) removeReplaced(spec Spec) {
	folder := filepath.Join(s.dir, spec.Experiment)
	entries, _ := os.ReadDir(folder) // a pattern of package filepath would misread folders such as res[1]
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "."+spec.ID()) { // see artifact.Create
			os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
	for _, suffix := range []string{stateSuffix, partialSuffix, failedSuffix} {
		os.Remove(s.path(spec, suffix))
	}
}

// failedFile is the content of <id>.failed.json.
type failedFile struct {
	Spec  Spec      `json:"spec"`
	Error string    `json:"error"`
	Stack string    `json:"stack,omitempty"`
	Time  time.Time `json:"time"`
}

// saveFailure stores why a run failed; State reads it.
func (s *Store) saveFailure(spec Spec, failure error) error {
	note := failedFile{Spec: spec, Error: failure.Error(), Time: time.Now().UTC()}
	if panicked, ok := errors.AsType[*panicError](failure); ok {
		note.Stack = panicked.stack
	}
	text, err := json.MarshalIndent(note, "", "  ")
	if err != nil {
		return err
	}
	return artifact.Replace(s.failedPath(spec), append(text, '\n'), 0o644)
}

// Files are what a group may write in addition to the rows of its runs, and what it may read of them.
type Files struct{ store *Store }

// State is the path of the file from which a group continues after an interruption: first is its first member. It is
// removed when that run is finished.
func (f Files) State(first Spec) (path string) { return f.store.path(first, stateSuffix) }

// Rows are those of a run's stored steps, for steps that depend on earlier ones.
func (f Files) Rows(spec Spec) (map[int][]Row, error) {
	rows, _, err := f.store.known(spec)
	return rows, err
}

// What is read back takes no more memory than these limits allow.
const (
	maxFile = 64 << 20 // bytes of a file that is read whole, and of a result file's text; those of the paper have 1 MB
	maxLine = 1 << 20  // bytes of a first line
)

// readFile reads a whole file.
func readFile(path string) ([]byte, error) { return artifact.ReadFile(path, maxFile) }

// firstLine reads the first line, which may lack its end.
func firstLine(r io.Reader) ([]byte, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxLine+1)).ReadBytes('\n')
	if len(line) > maxLine {
		return nil, fmt.Errorf("its first line has more than %d MB", maxLine>>20)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}
