package echarts

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"tvps/data/artifact"
)

// Time limits of [Cached]; tests shorten them.
var (
	connectLimit = 3 * time.Second  // for a host to accept a connection and to begin its answer
	totalLimit   = 40 * time.Second // for all sources together
)

// Cached returns the text of the pinned script. It is read from the folder echarts of
// cacheDir, and downloaded into it at the first call. Without a network it fails within a few
// seconds; a download that runs into the time limit continues at the next call. With
// Options.File it returns that file and leaves the cache alone.
//
// The error is one sentence: callers print it and use static pictures instead.
func Cached(ctx context.Context, cacheDir string, o Options) ([]byte, error) {
	if o.File != "" {
		return own(o.File)
	}
	path := filepath.Join(cacheDir, "echarts", FileName)
	if text, err := os.ReadFile(path); err == nil {
		if _, pinned, _ := identify(text, path); pinned {
			return text, nil
		}
	}
	limited, cancel := context.WithTimeout(ctx, totalLimit)
	defer cancel()
	unlock, err := artifact.Lock(limited, filepath.Join(filepath.Dir(path), ".lock"), FileName, o.Log)
	if err != nil {
		return nil, withinLimit(ctx, limited, err)
	}
	defer unlock()
	if o.HTTP == nil {
		o.HTTP = impatientClient()
	}
	if err := dropUnpinned(path); err != nil {
		return nil, err
	}
	if err := Ensure(limited, path, o); err != nil {
		return nil, withinLimit(ctx, limited, err)
	}
	return os.ReadFile(path)
}

// dropUnpinned removes a cached script that is not pinned, such as that of another version of
// this program: Ensure would keep it.
func dropUnpinned(path string) error {
	if _, pinned, err := Check(path); err != nil || pinned {
		return nil // Ensure replaces what is damaged
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot replace the cached %s: %w", FileName, err)
	}
	return nil
}

// withinLimit names the time limit if it is the reason for err.
func withinLimit(ctx, limited context.Context, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("cannot download %s within %v: try again, the download continues", FileName, totalLimit)
	}
	return err
}

// impatientClient gives up early on hosts that do not answer.
func impatientClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connectLimit}).DialContext
	t.TLSHandshakeTimeout = connectLimit
	t.ResponseHeaderTimeout = connectLimit
	return &http.Client{Transport: t}
}
