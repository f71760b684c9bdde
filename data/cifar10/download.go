package cifar10

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"tvps/data/artifact"

	"github.com/klauspost/compress/gzip"
)

// archive is the official archive. It is published with an MD5 only; its files are also
// checked by SHA-256.
var archive = artifact.File{
	Name: "CIFAR-10",
	URL:  "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
	MD5:  "c32a1d4ab5d03f1284b67883e8d87530",
	Size: 170052171,
}

// Download puts the six official files into the cache and returns their folder. If they are
// there and pass Verify, it does nothing. It resumes an interrupted download and replaces a
// damaged folder. Several processes may call it at the same time. After an error the cache
// has no incomplete folder; what arrived of the archive stays, for the next call.
func Download(ctx context.Context, log io.Writer) (dir string, err error) {
	if dir, err = artifact.CacheDir(folder); err != nil {
		return "", err
	}
	if err := download(ctx, archive, sums, dir, log); err != nil {
		return "", err
	}
	return dir, nil
}

func download(ctx context.Context, f artifact.File, sums map[string]string, dir string, log io.Writer) error {
	if verify(dir, sums) == nil {
		return nil // before the lock, so that it works with a read-only cache
	}
	unlock, err := artifact.Lock(ctx, dir+".lock", f.Name, log)
	if err != nil {
		return err
	}
	defer unlock()
	if verify(dir, sums) == nil {
		return nil // another process downloaded it meanwhile
	}
	local := filepath.Join(filepath.Dir(dir), path.Base(f.URL))
	if err := artifact.Fetch(ctx, f, local, log); err != nil {
		return err
	}
	if err := install(ctx, local, sums, dir); err != nil {
		return err
	}
	return os.Remove(local)
}

// install unpacks the archive into dir.new, checks the files and renames the folder to dir.
// It first removes what a killed process left behind.
func install(ctx context.Context, local string, sums map[string]string, dir string) error {
	fresh := dir + ".new"
	defer os.RemoveAll(fresh)
	if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o755)); err != nil {
		return fmt.Errorf("cifar10: cannot prepare the folder of the data: %w; "+
			"make the cache writable or set TVPS_CACHE to another folder", err)
	}
	err := untar(ctx, local, fresh)
	switch {
	case errors.Is(err, artifact.ErrDiskFull) || errors.Is(err, artifact.ErrNotWritable) || ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("cifar10: cannot unpack %s: %w; delete that archive and try again", local, err)
	}
	if err := verify(fresh, sums); err != nil {
		return fmt.Errorf("the archive %s does not have the official files: %w", local, err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(fresh, dir)); err != nil {
		return fmt.Errorf("cifar10: cannot put the data in place: %w; delete %s and try again", err, dir)
	}
	return nil
}

// untar writes the six .bin files of a tar.gz into dir and ignores all other entries.
func untar(ctx context.Context, local, dir string) error {
	f, err := os.Open(local)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Base(head.Name)
		if _, official := sums[name]; !official || head.Typeflag != tar.TypeReg {
			continue
		}
		err = artifact.WriteFile(filepath.Join(dir, name), "CIFAR-10", 0o644, func(w io.Writer) error {
			_, err := io.Copy(w, io.LimitReader(r, batchRecords*recordBytes+1))
			return err
		})
		if err != nil {
			return err
		}
	}
}
