package clients

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// box is where a chart lies on its page, in pixels.
type box struct{ Left, Top, Width, Height float64 }

// boxes are the charts that are drawn on the open page.
const boxes = `[...document.querySelectorAll("#charts .live[data-drawn=yes]")].map(e => e.getBoundingClientRect()).
  map(r => ({Left: r.left, Top: r.top + scrollY, Width: r.width, Height: r.height}))`

// TestPagesInABrowser: on the first screen of a figure's page lie all charts of Figures 1 and 9, and the first one of
// the others; a chart opens large; on a narrow screen charts lie one below the other. The pages are drawn from the
// gallery's tables, and everything on them comes from this machine.
func TestPagesInABrowser(t *testing.T) {
	if os.Getenv("TVPS_BROWSER") != "1" {
		t.Skip("set TVPS_BROWSER=1 to open the figures' pages in Chromium")
	}
	browser := chromium(t)
	t.Parallel()
	pages := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./replicate", "all",
		"--stored", "--tables", "figures/gallery", "--results", t.TempDir(), "--out", pages)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(pages)))
	defer server.Close()
	v, net := newView(t, browser, "page")
	const width, height = 1300, 900
	for n := 1; n <= 14; n++ {
		found := v.page(server.URL, n, width, height)
		least := 500.
		switch n {
		case 1:
		case 9: // five charts, three in a row
			if least = 380; len(found) != 5 {
				t.Errorf("figure 9 has %d charts", len(found))
			}
		default:
			found = found[:1]
		}
		for i, b := range found {
			if b.Top+b.Height > height || b.Width < least || b.Height < 240 {
				t.Errorf("figure %d, chart %d: %+v", n, i+1, b)
			}
		}
		if n > 1 {
			continue
		}
		if len(found) != 4 {
			t.Errorf("figure 1 has %d charts", len(found))
		}
		v.large("a click", chromedp.Click("[data-large=fig01-a]"))
		v.large("Enter", chromedp.Focus("[data-large=fig01-a]"), chromedp.KeyEvent(kb.Enter))
	}
	found := v.page(server.URL, 1, 400, height)
	for i, b := range found[1:] {
		if above := found[i]; b.Left != above.Left || b.Top < above.Top+above.Height {
			t.Errorf("chart %d lies at %+v, that before it at %+v", i+2, b, above)
		}
	}
	if outside, all := net.outside(); len(outside) > 0 || all < 15 {
		t.Errorf("of %d requests these left the machine: %q", all, outside)
	}
}

// page opens a figure's page in a window of this size, in which all must fit, and returns its drawn charts.
func (v view) page(address string, figure int, width, height int64) (found []box) {
	v.Helper()
	url := fmt.Sprintf("%s/fig%02d/index.html", address, figure)
	if err := chromedp.Run(v.ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(url)); err != nil {
		v.Fatal(err)
	}
	v.until(fmt.Sprintf("the charts of figure %d are drawn", figure), 20*time.Second, func() bool {
		var all int
		v.value(`document.querySelectorAll("#charts .live").length`, &all)
		v.value(boxes, &found)
		return all > 0 && len(found) == all
	})
	var wide int64
	if v.value("document.documentElement.scrollWidth", &wide); wide > width {
		v.Errorf("the page of figure %d is %d pixels wide", figure, wide)
	}
	return found
}

// large opens the large chart by the actions, looks for its lines and zoom, and closes it by Escape.
func (v view) large(by string, actions ...chromedp.Action) {
	v.Helper()
	if err := chromedp.Run(v.ctx, actions...); err != nil {
		v.Fatal(err)
	}
	v.until(by+" opens the large chart with zoom", 10*time.Second, func() bool {
		var zooms int
		v.value(`(() => { const e = document.querySelector("#large[open] .live");
			return e && e.clientHeight > 400 ? echarts.getInstanceByDom(e).getOption().dataZoom.length : 0; })()`, &zooms)
		return zooms > 0
	})
	v.shot("large", nil)
	v.keys(kb.Escape)
	v.until("Escape closes it", 10*time.Second, func() bool {
		var open bool
		v.value(`document.querySelector("#large").open`, &open)
		return !open
	})
}
