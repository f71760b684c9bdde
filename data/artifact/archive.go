package artifact

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Archive is a pinned archive, with the files to unpack from it: a wheel, which is a zip file, or a .tar.gz.
type Archive struct {
	File
	What             string   // name of the unpacked files in messages, such as "the XLA plugin"
	Package, Release string   // of a wheel
	Licence          string   // SPDX identifier
	Members          []Member // files to unpack
}

// Member is a file in an archive.
type Member struct {
	Path   string      // in the archive, with slashes
	Name   string      // in the target folder, with slashes; "" for the last element of Path
	SHA256 string      // lower-case hexadecimal
	Size   int64       // bytes
	Perm   os.FileMode // 0 for 0o644
}

// Options adjusts Archive.Unpack. The zero value is silent.
type Options struct {
	Log     io.Writer // progress; nil for none
	NoFetch bool      // never download: a missing or damaged file is an error

	// Hash returns the SHA-256 of a file, for example a stored one. nil for hashing the
	// whole file at each call.
	Hash func(path string) (string, error)
}

// In returns the path of the file if the archive is unpacked in dir.
func (m Member) In(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(cmp.Or(m.Name, path.Base(m.Path))))
}

// Unpack downloads the archive and unpacks its members into dir, unless all of them are there
// already; fetched says whether it did. Several processes may unpack into the same folder at
// the same time: one downloads, the others wait. Damaged members are replaced, and stay until
// then: every later call finds the damage, too.
//
// Every error is one sentence. It wraps ErrNetwork, errStatus, ErrDamaged, ErrDiskFull, ErrNotWritable or the context's
// error. With NoFetch a missing member is fs.ErrNotExist and a damaged one
// ErrDamaged. A damaged member that cannot be replaced is ErrDamaged as well.
func (a Archive) Unpack(ctx context.Context, dir string, opts Options) (fetched bool, err error) {
	found := a.check(dir, opts)
	if found == nil || opts.NoFetch {
		return false, found
	}
	unlock, err := Lock(ctx, dir+".lock", a.What, opts.Log)
	if err != nil {
		return false, err
	}
	defer unlock()
	if found = a.check(dir, opts); found == nil {
		return false, nil // another process fetched it meanwhile
	}
	damaged := errors.Is(found, ErrDamaged)
	if damaged {
		logf(opts.Log, "%v", found)
	}
	err = a.fetch(ctx, dir, opts)
	if err != nil && damaged && ctx.Err() == nil {
		err = explain(ErrDamaged, err, "%s in %s is damaged and cannot be fetched again: %v", a.What, dir, err)
	}
	return err == nil, err
}

// check returns ErrDamaged if a member is another file, fs.ErrNotExist if one is missing.
func (a Archive) check(dir string, opts Options) error {
	var missing error
	for _, m := range a.Members {
		path := m.In(dir)
		if m.matches(path, opts) {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return explain(ErrDamaged, nil, "%s %s is damaged; it is fetched again", a.What, path)
		}
		missing = explain(fs.ErrNotExist, nil, "%s is not in %s yet", a.What, dir)
	}
	return missing
}

func (m Member) matches(path string, opts Options) bool {
	if info, err := os.Stat(path); err != nil || info.Size() != m.Size {
		return false
	}
	hash := opts.Hash
	if hash == nil {
		hash = SHA256
	}
	got, err := hash(path)
	return err == nil && got == m.SHA256
}

// fetch downloads the archive to a temporary file next to dir, and unpacks its members. The caller holds the lock.
func (a Archive) fetch(ctx context.Context, dir string, opts Options) error {
	base := path.Base(a.URL)
	removeDead(dir+"-"+base, 0) // it can be large; by the lock no process writes it
	local, err := Create(dir+"-"+base, 0o600)
	if err != nil {
		return explainDisk(err, dir, a.Name)
	}
	defer local.Cleanup()
	if err := a.download(ctx, local, opts.Log); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return explainDisk(err, dir, a.Name)
	}
	unpacked := 0
	err = walk(local.File, strings.HasSuffix(base, ".tar.gz"), func(name string, content io.Reader) error {
		i := slices.IndexFunc(a.Members, func(m Member) bool { return m.Path == name })
		if i < 0 {
			return nil
		}
		unpacked++
		return errors.Join(ctx.Err(), a.unpack(a.Members[i], content, dir, opts))
	})
	if err == nil && unpacked < len(a.Members) {
		return fmt.Errorf("%s has %d of the %d files of %s", a.URL, unpacked, len(a.Members), a.What)
	}
	return err
}

// walk visits the files of a .tar.gz, or of a zip.
func walk(archive *os.File, isTar bool, visit func(name string, content io.Reader) error) error {
	size, err := archive.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if isTar {
		return walkTar(io.NewSectionReader(archive, 0, size), visit)
	}
	all, err := zip.NewReader(archive, size)
	if err != nil {
		return err
	}
	for _, file := range all.File {
		content, err := file.Open()
		if err == nil {
			err = visit(file.Name, content)
			content.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func walkTar(archive io.Reader, visit func(name string, content io.Reader) error) error {
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	for all := tar.NewReader(plain); ; {
		head, err := all.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(head.Name, all); err != nil {
			return err
		}
	}
}

// unpack writes one member to dir and checks its hash.
func (a Archive) unpack(m Member, content io.Reader, dir string, opts Options) error {
	path := m.In(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return explainDisk(err, path, a.What)
	}
	removeDead(path, 0)
	file, err := Create(path, cmp.Or(m.Perm, 0o644))
	if err != nil {
		return explainDisk(err, path, a.What)
	}
	defer file.Cleanup()
	bar := newTransferred(opts.Log, "unpacking "+a.What, m.Size)
	defer bar.close()
	got, err := sum(io.TeeReader(io.LimitReader(content, m.Size+1), io.MultiWriter(file, bar)))
	if err == nil && got != m.SHA256 {
		return explain(ErrDamaged, nil, "%s in %s has SHA-256 %s instead of %s", m.Path, a.Name, got, m.SHA256)
	}
	if err == nil {
		err = Commit(file)
	}
	return explainDisk(err, path, a.What)
}
