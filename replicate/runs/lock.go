package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Holder is a process that computes a run.
type Holder struct {
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	Job  string `json:"job,omitempty"` // see slurmJob
}

// String is as "on node1, job 123_4" or "on node1, process 4711"; empty if nothing is known.
func (h Holder) String() string {
	var parts []string
	if h.Host != "" {
		parts = append(parts, "on "+h.Host)
	}
	switch {
	case h.Job != "":
		parts = append(parts, "job "+h.Job)
	case h.PID != 0:
		parts = append(parts, fmt.Sprintf("process %d", h.PID))
	}
	return strings.Join(parts, ", ")
}

// inParentheses is " (on node1, job 123_4)"; empty if nothing is known.
func (h Holder) inParentheses() string {
	if text := h.String(); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// slurmJob is the job of Slurm that this process is a part of, as "123", or "123_4" for a task of an array; "" outside
// of Slurm.
func slurmJob() string {
	if array, index := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID"); array != "" && index != "" {
		return array + "_" + index
	}
	return os.Getenv("SLURM_JOB_ID")
}

// lock is a file that is locked. The operating system frees the lock of a process that ends, however it ends. If the
// process's whole machine ends, that is for the file system to do: NFS 4 and Lustre do it after a minute or two, NFS 3
// may not do it at all.
type lock struct {
	path string
	file *os.File
	line []byte // the content of the file while the lock holds
}

// tryLock locks the file at path exclusively, and makes it and its folder if needed. It does not wait: it returns nil
// if another one holds the lock. After an error no file that it made is left.
func tryLock(path string) (*lock, error) {
	for range 20 {
		file, made, err := openLock(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errRemoved) { // after it was found
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := flock(file, lockExclusive); err != nil {
			file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, nil
			}
			if made {
				os.Remove(path)
			}
			return nil, err
		}
		l := &lock{path: path, file: file}
		if l.current() {
			l.line, _ = readFile(path)
			return l, nil
		}
		l.unlock() // its last owner removed the file after it was opened here: lock the new file
	}
	return nil, nil
}

// openLock opens a lock file for writing, as NFSv4 locks no other exclusively. One that another user made is opened for
// reading.
func openLock(path string) (file *os.File, made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, err
	}
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if !errors.Is(err, fs.ErrExist) {
		return file, err == nil, err
	}
	if file, err = os.OpenFile(path, os.O_RDWR, 0); errors.Is(err, fs.ErrPermission) {
		file, err = os.Open(path)
	}
	return file, false, err
}

// current tells whether the locked file is the one at its path.
func (l *lock) current() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(l.path)
	return err == nil && os.SameFile(mine, there)
}

// sign writes into the file who holds it. Without this line the lock holds, too.
func (l *lock) sign() {
	holder := Holder{PID: os.Getpid(), Job: slurmJob()}
	holder.Host, _ = os.Hostname()
	if file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
		_, _ = file.Write(jsonLine(holder))
		file.Close() // at once: NFS then shows it to other machines
	}
	l.line, _ = readFile(l.path)
}

// errLost is returned for a run whose lock was lost while it was being computed.
var errLost = errors.New("its lock file was removed")

// check returns an error unless the lock is still this process's. It is called before anything is written, so that two
// processes never write one file, even if both have the lock: after a person removed its file ([errLost]), or where the
// file system gave the lock to a second machine (a *FolderError, as it does so again).
func (l *lock) check() error {
	if !l.current() {
		return errLost
	}
	line, err := readFile(l.path)
	if err != nil || bytes.Equal(line, l.line) {
		return err
	}
	var other Holder
	_ = json.Unmarshal(line, &other)
	return &FolderError{Dir: filepath.Dir(l.path), Locks: true,
		Problem: "is on a file system that locked one file twice, for this process and for another" + other.inParentheses()}
}

// release frees the lock and removes its file, unless that is another's by now.
func (l *lock) release() {
	mine := l.check() == nil
	open := runtime.GOOS != "windows" // which removes no open file: neither ours now, nor later one of another process
	if mine && open {
		os.Remove(l.path)
	}
	l.unlock()
	if mine && !open {
		os.Remove(l.path)
	}
}

// locks are those of the runs of a task.
type locks []*lock

func (all locks) release() {
	for _, l := range all {
		l.release()
	}
}

// check returns an error unless all locks are still this process's.
func (all locks) check() error {
	for _, l := range all {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lock) unlock() {
	_ = flock(l.file, lockNone) // explicitly: a child that is being started has the file, too
	l.file.Close()
}

// holder tells whether a living process computes the run, and which. It makes no file and needs only permission to
// read.
func (s *Store) holder(spec Spec) (by Holder, held bool) {
	file, err := os.Open(s.lockPath(spec))
	if err != nil {
		return Holder{}, false
	}
	defer file.Close()
	if err := flock(file, lockShared); !errors.Is(err, syscall.EWOULDBLOCK) {
		if err == nil {
			_ = flock(file, lockNone)
		}
		return Holder{}, false
	}
	if line, err := firstLine(file); err == nil {
		_ = json.Unmarshal(line, &by)
	}
	return by, true
}

// claimPauses are the pauses between attempts to lock a run: a reader that asks who computes it locks it for a moment.
var claimPauses = []time.Duration{time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond}

// claim takes the lock of a run; held is nil if another living process, or another Execute in this one, has it after
// these pauses, too.
func (s *Store) claim(spec Spec, pauses ...time.Duration) (held *lock, err error) {
	for i := 0; ; i++ {
		held, err = tryLock(s.lockPath(spec))
		if err != nil {
			return nil, s.lockError(spec, err)
		}
		if held != nil {
			held.sign()
			return held, nil
		}
		if i == len(pauses) {
			return nil, nil
		}
		time.Sleep(pauses[i])
	}
}

// lockError is the error of a folder in which a run cannot be locked, or whose file system has no locks.
func (s *Store) lockError(spec Spec, err error) error {
	problem := "cannot lock run " + spec.String()
	unlockable := errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
	if unlockable {
		problem = "is on a file system that does not lock files"
	}
	return &FolderError{Dir: filepath.Join(s.dir, spec.Experiment), Problem: problem, Err: err, Locks: unlockable}
}
