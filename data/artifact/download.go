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
	"time"
)

// tries is the largest number of requests if the connection breaks.
const tries = 5

// pause is the time between two attempts. Tests shorten it.
var pause = time.Second

// download writes the pinned file to to. After a network error it requests the rest, up to tries requests and as long
// as each of them brings at least one byte. Every error is one sentence. It wraps ErrNetwork, errStatus, ErrDamaged,
// the context's error, or one of to.
func (f File) download(ctx context.Context, to io.Writer, log io.Writer) error {
	bar := newTransferred(log, f.Name, f.Size)
	defer bar.close()
	hash := sha256.New()
	for try := 1; ; try++ {
		before := bar.done
		err := f.transfer(ctx, before, io.MultiWriter(to, hash, bar))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			return f.compare(bar.done, hex.EncodeToString(hash.Sum(nil)))
		}
		if !errors.Is(err, ErrNetwork) || bar.done == before || try == tries {
			return err
		}
		time.Sleep(pause) // a short outage may end
	}
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

// transfer makes one request for the bytes from a position on, and writes them to to. An answer that breaks off is
// ErrNetwork.
func (f File) transfer(ctx context.Context, from int64, to io.Writer) error {
	answer, err := f.request(ctx, from)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK { // the whole file
		_, err = io.CopyN(io.Discard, answer.Body, from)
	}
	if err == nil {
		_, err = io.Copy(to, io.LimitReader(answer.Body, f.Size-from+1)) // 1: to see one too long
	}
	if _, disk := errors.AsType[*fs.PathError](err); err == nil || disk {
		return err
	}
	return f.networkError(err)
}

// request asks for the bytes of f from a position on.
func (f File) request(ctx context.Context, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, f.networkError(err)
	}
	req.Header.Set("Accept-Encoding", "identity") // the hash is of the file, not of an encoding
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, f.networkError(err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusPartialContent {
		answer.Body.Close()
		return nil, explain(errStatus, nil, "cannot download %s: %s answered %q; try again later, "+
			"or check whether the file has moved", f.Name, f.URL, answer.Status)
	}
	return answer, nil
}

// networkError is ErrNetwork with an error of a request.
func (f File) networkError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op // without the URL that net/http puts in front
	}
	return explain(ErrNetwork, err, "cannot download %s from %s (%v); check the network and proxy settings and try again",
		f.Name, f.URL, err)
}
