package artifact

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Pending is a file that is being written under a temporary name in its folder. Commit gives it its name, Cleanup
// removes it and does nothing after Commit.
type Pending struct {
	*os.File
	path string
	done bool
}

// Create begins a file at path. Until Commit an existing file stays as it is; its permissions are kept. A process
// that is killed leaves a file next to it, whose name is a dot, that of the file, and digits. A Create of the same path
// removes it when it is older than deadAfter. A device or a pipe is an error: the new file would take its place.
func Create(path string, perm os.FileMode) (*Pending, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a device or a pipe; name a file")}
	}
	existing, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	keep := err == nil && existing.Mode().IsRegular()
	if keep {
		perm = existing.Mode().Perm()
	}
	removeDead(path, deadAfter)
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+strconv.FormatInt(rand.Int64(), 10))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	p := &Pending{File: file, path: path}
	if info, err := file.Stat(); keep && err == nil && info.Mode().Perm() != perm { // because of the umask
		if err := file.Chmod(perm); err != nil {
			_ = p.Cleanup()
			return nil, err
		}
	}
	return p, nil
}

// deadAfter is the time after which a temporary file that no process writes to is taken for that of a killed process.
const deadAfter = time.Hour

// removeDead removes what killed processes have left of the file at path, if it is older than age.
func removeDead(path string, age time.Duration) {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), prefix)
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// Cleanup ends a file that was not committed.
func (p *Pending) Cleanup() error {
	if p.done {
		return nil
	}
	p.done = true
	_ = p.Close()
	if err := os.Remove(p.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Commit syncs the files, gives them their names in this order, and syncs their folders: after a power failure they
// are there. The files before one that fails have their names. An error of a file is an *fs.PathError with its path.
func Commit(files ...*Pending) error {
	var folders []string
	for _, file := range files {
		if err := file.commit(); err != nil {
			return &fs.PathError{Op: "write", Path: file.path, Err: WithoutPath(err)}
		}
		if dir := filepath.Dir(file.path); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, dir := range folders {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// commit gives a file its name. The content is synced first: after a power failure the name has the old one or the new
// one, and is never an empty file.
func (p *Pending) commit() error {
	if err := p.Sync(); err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	if err := rename(p.Name(), p.path); err != nil {
		return err
	}
	p.done = true
	return nil
}

// WithoutPath is an error of a file without its path, for messages that name the file.
func WithoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}

// TryWrite makes the folder if needed, then writes and removes a file in it. It fails before anything is computed that
// could not be stored.
func TryWrite(folder string) error { return TryCreate(filepath.Join(folder, "probe")) }

// TryCreate does so with the name of the file that will be written: it may be too long.
func TryCreate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	probe, err := Create(path, 0o644)
	if err != nil {
		return err
	}
	return probe.Cleanup()
}

// Replace writes a file in one step, as Create and Commit do.
func Replace(path string, data []byte, perm os.FileMode) error {
	file, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer file.Cleanup()
	if _, err := file.Write(data); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: WithoutPath(err)}
	}
	return Commit(file)
}

// syncFile is replaced by tests.
var syncFile = (*os.File).Sync

// syncFolder syncs a folder, so that the names in it survive a power failure. A folder that cannot be opened for
// reading, or a file system that syncs no folders, is no error; Windows permits no folder's sync (see rename).
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err == nil {
		defer folder.Close()
		err = syncFile(folder)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
