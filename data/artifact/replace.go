package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// Pending is a file that is being written under a temporary name in its folder. Commit gives it its name, Cleanup
// removes it and does nothing after Commit.
type Pending struct {
	*renameio.PendingFile
	path  string
	alive *flock.Flock // is locked until the end
}

// Create begins a file at path. Until Commit an existing file stays as it is; its permissions are kept. A process
// that is killed leaves a file beside it, whose name is a dot, that of the file, and digits. The next Create of the
// same path removes it. A device or a pipe is an error: the new file would take its place.
func Create(path string, perm os.FileMode) (*Pending, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a device or a pipe; name a file")}
	}
	dir := filepath.Dir(path)
	removeDead(dir, "."+filepath.Base(path))
	for {
		// Without WithTempDir the file may lie in $TMPDIR, where nobody looks for it if the process is killed.
		file, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(perm),
			renameio.WithExistingPermissions())
		if err != nil {
			return nil, err
		}
		p := &Pending{file, path, lockAlive(file.Name())}
		if _, err := os.Lstat(file.Name()); err == nil {
			return p, nil
		}
		_ = p.Cleanup() // another process took it for dead before it was locked
	}
}

// lockAlive locks a temporary file or folder until its process ends. Where nothing can be locked, nothing is taken for
// dead.
func lockAlive(path string) *flock.Flock {
	alive := flock.New(path, flock.SetFlag(os.O_RDONLY))
	_ = alive.Lock()
	return alive
}

// removeDead removes the temporary files and folders in dir, named prefix and digits, that killed processes have left:
// they are not locked. Links and pipes are left alone.
func removeDead(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), prefix)
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || entry.Type()&^fs.ModeDir != 0 {
			continue
		}
		dead := flock.New(filepath.Join(dir, entry.Name()), flock.SetFlag(os.O_RDONLY))
		if free, _ := dead.TryLock(); free {
			os.RemoveAll(dead.Path())
		}
		_ = dead.Close()
	}
}

// Cleanup ends a file that was not committed.
func (p *Pending) Cleanup() error {
	defer func() { _ = p.alive.Close() }()
	return p.PendingFile.Cleanup()
}

// Commit syncs the files, gives them their names in this order, and syncs their folders: after a power failure they
// are there. The files before one that fails have their names. An error of a file is an *fs.PathError with its path.
func Commit(files ...*Pending) error {
	var folders []string
	for _, file := range files {
		err := file.CloseAtomicallyReplace()
		_ = file.alive.Close()
		if err != nil {
			return &fs.PathError{Op: "write", Path: file.path, Err: bare(err)}
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

// bare returns an error of a file without the path, which is a temporary one.
func bare(err error) error {
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
	if err := MakeFolder(filepath.Dir(path)); err != nil {
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
		return &fs.PathError{Op: "write", Path: path, Err: bare(err)}
	}
	return Commit(file)
}

// MakeFolder makes a folder and those above it, and syncs the folders that hold new ones. An existing folder is no
// error.
func MakeFolder(dir string) error {
	var missing []string // the deepest first
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, made := range slices.Backward(missing) {
		if err := syncFolder(filepath.Dir(made)); err != nil {
			return err
		}
	}
	return nil
}

// syncFile is replaced by tests.
var syncFile = (*os.File).Sync

// syncFolder syncs a folder, so that the names in it survive a power failure. A folder that cannot be opened for
// reading, or a file system that syncs no folders, is no error.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	err = syncFile(folder)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
