package artifact

import (
	"cmp"
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
	bar := newTransferred(log, f.Name, f.Size)
	defer bar.close()
	for try := 1; ; try++ {
		before := partSize(part)
		if before >= f.Size {
			return nil
		}
		err := transfer(ctx, f, part, bar)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, ErrNetwork) || partSize(part) <= before || try >= tries {
			return err
		}
		time.Sleep(pause) // a short outage may end
	}
}

// transfer makes one request and appends the answer to part. An answer of another length than the file's is ErrDamaged:
// it is not the file. One that breaks off is ErrNetwork.
func transfer(ctx context.Context, f File, part string, bar *transferred) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data for %v", stall)) })
	defer watch.Stop()

	from := partSize(part)
	answer, err := request(ctx, f, from)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if answer.StatusCode == http.StatusOK { // the whole file
		from, flags = 0, flags|os.O_TRUNC
	}
	if length := answer.ContentLength; length >= 0 && from+length != f.Size {
		return explain(ErrDamaged, nil, "%d bytes instead of %d", from+length, f.Size)
	}
	file, err := os.OpenFile(part, flags, 0o644)
	if err != nil {
		return explainDisk(err, part, f.Name)
	}
	defer file.Close()
	bar.done = from
	in := &watchedReader{r: io.LimitReader(answer.Body, f.Size-from+1), watch: watch, bar: bar} // 1: to see one too long
	_, err = io.Copy(file, in)
	switch {
	case in.err != nil:
		return networkError(f, cmp.Or(context.Cause(ctx), in.err))
	case err != nil:
		return explainDisk(err, part, f.Name)
	case partSize(part) < f.Size:
		return explain(ErrNetwork, io.ErrUnexpectedEOF, "the download of %s from %s stopped after %d of %d bytes; "+
			"try again, it resumes there", f.Name, f.URL, partSize(part), f.Size)
	}
	return nil
}

// request asks for the bytes of f from a position on.
func request(ctx context.Context, f File, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, networkError(f, err)
	}
	req.Header.Set("Accept-Encoding", "identity") // the hash is of the file, not of an encoding
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	answer, err := client().Do(req)
	if err != nil {
		return nil, networkError(f, cmp.Or(context.Cause(ctx), err))
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusPartialContent {
		answer.Body.Close()
		return nil, explain(errStatus, nil, "cannot download %s: %s answered %q; try again later, "+
			"or check whether the file has moved", f.Name, f.URL, answer.Status)
	}
	return answer, nil
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
	err   error // but for the end
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.watch.Reset(stall)
	w.bar.add(n)
	if !errors.Is(err, io.EOF) {
		w.err = err
	}
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
