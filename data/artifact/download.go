package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// tries is the largest number of requests if the connection breaks.
const tries = 5

// Tests shorten these times.
var (
	pause = time.Second // between two attempts
	stall = time.Minute // without a byte, after which a request fails
)

// download completes part to f.Size bytes. After a network error it requests the rest, up
// to tries requests and as long as each of them brings at least one byte.
func download(ctx context.Context, f File, part string, log io.Writer) error {
	if partSize(part) > f.Size {
		os.Remove(part)
	}
	bar := newTransferred(log, f.Name, f.Size)
	defer bar.close()
	for try := 1; ; try++ {
		before := partSize(part)
		if before == f.Size {
			return nil
		}
		err := transfer(ctx, f, part, bar)
		if err == nil && partSize(part) == f.Size {
			return nil
		}
		if err == nil {
			err = explain(ErrNetwork, io.ErrUnexpectedEOF, "the download of %s from %s stopped after %d of %d bytes; "+
				"try again, it resumes there", f.Name, f.URL, partSize(part), f.Size)
		}
		gained := partSize(part) > before
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, ErrNetwork) || !gained || try >= tries {
			return err
		}
		select { // a short outage may end
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// transfer makes one request and appends the answer to part. An answer that is complete but has another length than the
// file is ErrDamaged: it is not the file. One that breaks off is ErrNetwork; where the server says neither the length
// nor the end, the two cannot be told apart, and transfer returns nil.
func transfer(ctx context.Context, f File, part string, bar *transferred) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data for %v", stall)) })
	defer watch.Stop()

	from := partSize(part)
	body, from, ends, err := request(ctx, f, from)
	if err != nil {
		return err
	}
	defer body.Close()
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if from == 0 {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(part, flags, 0o644)
	if err != nil {
		return explainDisk(err, part, f.Name)
	}
	defer file.Close()
	bar.done = from

	// Read one byte more than expected, to detect a file that is too long.
	in := &watchedReader{r: io.LimitReader(body, f.Size-from+1), watch: watch, bar: bar}
	out := &diskWriter{file: file, path: part, what: f.Name}
	_, err = io.CopyBuffer(out, in, make([]byte, 256<<10))
	switch {
	case out.err != nil:
		return out.err
	case err != nil:
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return networkError(f, err)
	case partSize(part) > f.Size:
		return explain(ErrDamaged, nil, "more than the expected %d bytes", f.Size)
	case ends && partSize(part) < f.Size:
		return explain(ErrDamaged, nil, "%d bytes instead of %d", partSize(part), f.Size)
	}
	return nil
}

// request asks for the bytes of f from a position on. It returns the body, the position
// where the body begins, which is 0 if the server sends the whole file, and whether the body
// ends without an error only if it is complete. An announced length that is not the file's is
// ErrDamaged.
func request(ctx context.Context, f File, from int64) (body io.ReadCloser, begin int64, ends bool,
	err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, 0, false, explain(ErrNetwork, err, "cannot download %s: %v", f.Name, err)
	}
	req.Header.Set("Accept-Encoding", "identity") // the hash is of the file, not of an encoding
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := client().Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, 0, false, networkError(f, err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusPartialContent:
		if _, scanErr := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &begin); scanErr != nil || begin != from {
			err = explain(ErrDamaged, nil, "the server answered a request for the bytes from %d with %q",
				from, resp.Header.Get("Content-Range"))
		}
	case http.StatusRequestedRangeNotSatisfiable:
		err = explain(ErrDamaged, nil, "the server has no more than %d of the expected %d bytes", from, f.Size)
	default:
		err = explain(errStatus, nil, "cannot download %s: %s answered %q; try again later, "+
			"or check whether the file has moved", f.Name, f.URL, resp.Status)
	}
	if length := resp.ContentLength; err == nil && length >= 0 && begin+length != f.Size {
		err = explain(ErrDamaged, nil, "%d bytes instead of %d", begin+length, f.Size)
	}
	if err != nil {
		resp.Body.Close()
		return nil, 0, false, err
	}
	// A body without a length ends with the connection in HTTP/1 if it is not in chunks.
	ends = resp.ContentLength >= 0 || resp.ProtoMajor > 1 || len(resp.TransferEncoding) > 0
	return resp.Body, begin, ends, nil
}

func networkError(f File, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op // without the URL that net/http puts in front
	}
	return explain(ErrNetwork, err, "cannot download %s from %s (%v); check the network and proxy settings "+
		"and try again, a partial download resumes where it stopped", f.Name, f.URL, err)
}

// client returns an HTTP client with time limits for connecting (15 s) and for the head of
// the answer (30 s). The transfer itself has no limit; see stall.
func client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 15 * time.Second
	t.ResponseHeaderTimeout = 30 * time.Second
	return &http.Client{Transport: t}
}

// watchedReader resets the stall timer and advances the progress bar at each read.
type watchedReader struct {
	r     io.Reader
	watch *time.Timer
	bar   *transferred
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.watch.Reset(stall)
	w.bar.add(n)
	return n, err
}

// partSize returns the size of the file, or 0 if there is none.
func partSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
