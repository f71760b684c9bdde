package artifact

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
)

// download writes the pinned file to to. Every error is one sentence. It wraps ErrNetwork, errStatus, ErrDamaged, the
// context's error, or one of to.
func (f File) download(ctx context.Context, to io.Writer, log io.Writer) error {
	bar := newTransferred(log, f.Name, f.Size)
	defer bar.close()
	hash := sha256.New()
	err := f.transfer(ctx, io.MultiWriter(to, hash, bar))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return f.compare(bar.done, hex.EncodeToString(hash.Sum(nil)))
}

// compare returns ErrDamaged unless a download has the pinned size and hash.
func (f File) compare(size int64, sum string) error {
	var difference string
	switch {
	case size != f.Size:
		difference = fmt.Sprintf("%d bytes instead of %d", size, f.Size)
	case sum != cmp.Or(f.SHA256, sum):
		difference = fmt.Sprintf("SHA-256 %s instead of %s", sum, f.SHA256)
	default:
		return nil
	}
	return explain(ErrDamaged, nil, "%s from %s is damaged or was altered (%s); it was deleted: "+
		"try again; if it fails again, check whether a proxy changes downloads", f.Name, f.URL, difference)
}

// transfer requests the file and writes it to to. An answer that breaks off is ErrNetwork.
func (f File) transfer(ctx context.Context, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return f.networkError(err)
	}
	req.Header.Set("Accept-Encoding", "identity") // the hash is of the file, not of an encoding
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return f.networkError(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return explain(errStatus, nil, "cannot download %s: %s answered %q; try again later, "+
			"or check whether the file has moved", f.Name, f.URL, answer.Status)
	}
	_, err = io.Copy(to, io.LimitReader(answer.Body, f.Size+1)) // 1: to see one too long
	if _, disk := errors.AsType[*fs.PathError](err); err == nil || disk {
		return err
	}
	return f.networkError(err)
}

// networkError is ErrNetwork with an error of a request.
func (f File) networkError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op // without the URL that net/http puts in front
	}
	return explain(ErrNetwork, err, "cannot download %s from %s (%v); check the network and proxy settings and try again",
		f.Name, f.URL, err)
}
