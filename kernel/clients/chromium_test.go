package clients

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// chromium returns the path of a browser. If there is none, the test is skipped.
func chromium(t *testing.T) string {
	if path := os.Getenv("TVPS_BROWSER_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("Chromium is missing: install it, or set TVPS_BROWSER_CHROMIUM to the path of a browser")
	return ""
}

// traffic records the requests of pages to the network.
type traffic struct {
	mutex sync.Mutex
	urls  []string
}

func (n *traffic) listen(event any) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		n.urls = append(n.urls, e.Request.URL)
	case *network.EventWebSocketCreated:
		n.urls = append(n.urls, e.URL)
	}
}

// outside returns the requests to other hosts, and the number of all requests.
func (n *traffic) outside() (outside []string, all int) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, u := range n.urls {
		if !isLocal(u) {
			outside = append(outside, u)
		}
	}
	return outside, len(n.urls)
}

// isLocal says whether a request stays on this machine; data: and blob: never leave the page.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if slices.Contains([]string{"data", "blob", "about"}, u.Scheme) {
		return true
	}
	return u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost"
}

// profile is a folder for a browser's files. It is removed in several attempts, because the browser's helper processes
// may still write into it for a moment.
func profile(t *testing.T) string {
	dir, err := os.MkdirTemp("", "tvps-profile-")
	demand.NoError(t, err)
	t.Cleanup(func() {
		for begin := time.Now(); os.RemoveAll(dir) != nil; time.Sleep(200 * time.Millisecond) {
			if time.Since(begin) > 20*time.Second {
				t.Errorf("the browser's folder %s cannot be removed", dir)
				return
			}
		}
	})
	return dir
}

// open starts a headless browser with an empty page. The browser can resolve no host name except that of this
// machine.
func open(t *testing.T, path string) (context.Context, *traffic) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.WindowSize(1400, 1100), chromedp.UserDataDir(profile(t)),
		chromedp.Flag("ignore-certificate-errors", true), // of a server that signs its own
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	t.Cleanup(func() { chromedp.Cancel(ctx) }) // waits for its end
	n := &traffic{}
	chromedp.ListenTarget(ctx, n.listen)
	if err := chromedp.Run(ctx, network.Enable(), emulation.SetFocusEmulationEnabled(true)); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx, n
}
