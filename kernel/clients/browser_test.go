package clients

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed probe.js
var probe string

// notebookTimeout is the time limit for the cells of a notebook: enough for an empty build cache on a busy machine.
const notebookTimeout = 10 * time.Minute

// view is a page of JupyterLab.
type view struct {
	*testing.T
	ctx  context.Context
	shot func(name string, clip *page.Viewport) // takes a screenshot and keeps it
}

// value evaluates an expression on the page. If that is a promise, value waits for its result.
func (v view) value(expression string, result any) {
	v.Helper()
	wait := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	ctx, cancel := context.WithTimeout(v.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Evaluate(expression, result, wait)); err != nil {
		v.shot("failed", nil)
		v.Fatalf("%s: %v", expression, err)
	}
}

// ask calls a function of probe.js.
func (v view) ask(result any, function string, arguments ...any) {
	v.Helper()
	text, err := json.Marshal(append([]any{}, arguments...))
	if err != nil {
		v.Fatal(err)
	}
	v.value(fmt.Sprintf("probe.%s(...%s)", function, text), result)
}

// do calls a function of probe.js for what it does.
func (v view) do(function string, arguments ...any) {
	v.Helper()
	var done bool
	v.ask(&done, function, arguments...)
}

// until waits for a condition. why may be nil; otherwise it describes what is missing.
func (v view) until(what string, limit time.Duration, condition func() bool, why ...*string) {
	v.Helper()
	for begin := time.Now(); !condition(); time.Sleep(300 * time.Millisecond) {
		if time.Since(begin) > limit {
			v.shot("failed", nil)
			for _, w := range why {
				what += " (" + *w + ")"
			}
			v.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// position is that of a chart in the notebook.
type position struct {
	Cell  int `json:"cell"`
	Place int `json:"place"`
}

// needed returns the browser and JupyterLab's Python, or skips the test. Tests that have them run at the same time:
// they mostly wait.
func needed(t *testing.T) (browser, python string) {
	if os.Getenv("TVPS_BROWSER") != "1" {
		t.Skip("set TVPS_BROWSER=1 to run the notebooks in JupyterLab and Chromium, which takes minutes")
	}
	browser, python = chromium(t), install(t)
	t.Parallel()
	return browser, python
}

// All cells of 01-start.ipynb run, with every kind of chart; at night also notebooks of figures.
func TestNotebooksInABrowser(t *testing.T) {
	browser, python := needed(t)
	charts := map[string]int{"01-start.ipynb": 5}
	if demand.Nightly {
		charts["fig01.ipynb"], charts["fig05.ipynb"] = 4, 4
	}
	names := slices.Collect(maps.Keys(charts))
	address := startLab(t, python, copyNotebooks(t, names), "").address
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			v, net := newView(t, browser, strings.TrimSuffix(name, ".ipynb"))
			v.run(address, name)
			v.charts(charts[name])
			outside, all := net.outside()
			if len(outside) > 0 || all < 10 {
				t.Errorf("of %d requests these left the machine: %q", all, outside)
			}
			t.Logf("%d requests, all to this machine", all)
		})
	}
}

// The sliders and lists of 03-explore.ipynb change its outputs, until the cell is interrupted. At night also those of a
// server with a base URL and TLS.
func TestSlidersInABrowser(t *testing.T) {
	browser, python := needed(t)
	bases := []string{""}
	if demand.Nightly {
		bases = append(bases, "/user/me")
	}
	for _, base := range bases {
		t.Run("base"+base, func(t *testing.T) { testSliders(t, browser, python, base) })
	}
}

func testSliders(t *testing.T, browser, python, base string) {
	v, _ := newView(t, browser, "explore"+filepath.Base(base))
	const name = "03-explore.ipynb"
	v.start(startLab(t, python, copyNotebooks(t, []string{name}), base).address, name)
	controls, text := 0, ""
	v.until("two sliders and two lists are shown", notebookTimeout, func() bool {
		var s struct{ Ran string }
		v.ask(&s, "state")
		if v.ask(&text, "lastTexts"); s.Ran != "running" { // it has no controls: with them it waits
			t.Fatalf("the cell ended: %s", text)
		}
		v.ask(&controls, "controls")
		return controls == 4
	}, &text)
	exact := func() (share float64) { // the effective share by the exact weights; 2 if it is not shown
		v.ask(&text, "lastTexts")
		_, after, _ := strings.Cut(text, "effective share, exact = ")
		if _, err := fmt.Sscan(after, &share); err != nil {
			return 2
		}
		return share
	}
	first := exact()
	if first < 0.35 || first > 0.5 {
		t.Errorf("the first outputs have the share %v, want that of the exercise, .42:\n%s", first, text)
	}
	v.do("choose", 0, 2) // no clip: single weights are large
	v.until("the share falls without a clip", 3*time.Minute, func() bool { return exact() < first-0.05 }, &text)
	v.do("slide", 0, 0) // no drift: every exact weight is 1
	v.until("the share is 1 without drift", 3*time.Minute, func() bool { return exact() == 1 }, &text)
	v.shot("sliders", nil)
	v.keyboard()
	v.until("the share falls with the drift", 3*time.Minute, func() bool { return exact() < 1 }, &text)
	v.do("interrupt")
	v.until("the cell ends and says so", time.Minute, func() bool {
		var s struct{ Ran string }
		v.ask(&s, "state")
		v.ask(&text, "lastTexts")
		return s.Ran != "running" && strings.Contains(text, "Stopped. Run the cell again")
	}, &text)
}

// keyboard presses keys on a slider and a list: they are not shortcuts of JupyterLab.
func (v view) keyboard() {
	type selected struct {
		Index, Slider int
		Type          string
	}
	var before, after selected
	v.do("focus", "input[type=range]") // this selects its cell
	v.ask(&before, "active")
	v.keys(kb.ArrowRight)
	v.do("focus", ".jp-OutputArea select")
	v.keys("r") // makes a selected cell one of raw text
	v.ask(&after, "active")
	if before.Slider++; after != before {
		v.Errorf("after keys on the controls: %+v, want %+v", after, before)
	}
}

// An error ends Run All, and an interrupt does, also of what a shell has started.
func TestStopInABrowser(t *testing.T) {
	browser, python := needed(t)
	for name, c := range map[string]struct {
		interrupt bool
		cells     []string
		want      []int
	}{
		"error": {false, []string{"%%\\nprintln(1)", "%%\\nx", "%%\\nprintln(3)", "!echo 4", "!echo 5"}, []int{1, 2, 0, 0, 0}},
		"stop":  {true, []string{"!sleep 300; echo done", "!echo 2"}, []int{1, 0}},
	} {
		v, _ := newView(t, browser, name)
		lab := startLab(t, python, notebook(t, name+".ipynb", c.cells...), "")
		v.start(lab.address, name+".ipynb")
		if c.interrupt {
			v.until("the command runs", notebookTimeout, func() bool {
				return slices.Contains(slices.Collect(maps.Values(lab.processes())), "sleep 300")
			})
			v.do("interrupt")
		}
		var s struct{ Ran string }
		v.until("Run All ends", notebookTimeout, func() bool { v.ask(&s, "state"); return s.Ran != "running" })
		got := ""
		v.until(fmt.Sprintf("%s: the cells have the counts %v", name, c.want), time.Minute, func() bool {
			var counts []int
			v.ask(&counts, "counts") // Run All ends with the first reply that is no success, maybe before another cell's
			got = fmt.Sprint(counts)
			return slices.Equal(counts, c.want)
		}, &got)
		v.shot("stopped", nil)
	}
}

// `kernel lab`, also started by root, opens 00-index.ipynb. A click leads to Figure 1's verdict. All links of the
// notebooks lead to files that it serves. SIGTERM to `go run` ends it.
func TestLabInABrowser(t *testing.T) {
	browser, _ := needed(t)
	lab := startLab(t, "", "", "")
	v, _ := newView(t, browser, "lab")
	demand.NoError(t, chromedp.Run(v.ctx, chromedp.Navigate(lab.address+"/?token="+token), chromedp.Evaluate(probe, nil)))
	why, where := "?", ""
	v.until("the first page is open", 3*time.Minute, func() bool {
		v.ask(&why, "ready")
		return why == ""
	}, &why)
	demand.NoError(t, chromedp.Run(v.ctx, chromedp.Location(&where)))
	if !strings.HasSuffix(strings.Split(where, "?")[0], "/lab/tree/notebooks/00-index.ipynb") {
		t.Errorf("the first page is %s", where)
	}
	v.shot("first", nil)
	demand.NoError(t, chromedp.Run(v.ctx, chromedp.Click(`a[href*="fig01.ipynb"]`, chromedp.ByQuery)))
	v.until("Figure 1 opens with its verdict and pictures", time.Minute, func() bool {
		var page string
		var pictures int
		v.value("document.body.innerText", &page)
		v.value(`document.querySelectorAll(".jp-RenderedSVG img, .jp-RenderedSVG > svg").length`, &pictures)
		return strings.Contains(page, "Ours beats Everything on the Gaussian (+") && pictures == 4 &&
			strings.Contains(page, "Go (tvps) | Idle")
	})
	v.shot("verdict", nil) // lab-verdict.png is figures/gallery/notebook.png
	link := regexp.MustCompile(`(?:\]\(|src=\\")\.\./([^)#\\]+)`)
	files, _ := filepath.Glob(filepath.Join(root(t), "notebooks", "*.ipynb"))
	links := 0
	for _, file := range files {
		for _, found := range link.FindAllStringSubmatch(string(demand.Read(t, file)), -1) {
			links++
			if !answers(t.Context(), lab.address, "contents/"+strings.TrimSuffix(found[1], "/")) {
				t.Errorf("%s: ../%s is not served", filepath.Base(file), found[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links", links)
	}
	lab.signal(syscall.SIGTERM)
	v.ended(lab)
}

// ended waits for the end of a server and all that it started.
func (v view) ended(l lab) {
	v.Helper()
	left := ""
	v.until("all processes have ended", 30*time.Second, func() bool {
		all := l.processes()
		left = fmt.Sprint(all)
		return len(all) == 0
	}, &left)
}

// Tab completes a name of this module, and Shift-Tab explains it, through gopls.
func TestCompletionInABrowser(t *testing.T) {
	browser, python := needed(t)
	v, _ := newView(t, browser, "completion")
	v.run(startLab(t, python, notebook(t, "completion.ipynb", `import \"tvps/figures\"`, `%%\nfmt.Println()\n`), "").address,
		"completion.ipynb")
	v.do("edit", 1)
	v.keys("figures.")
	var names []string
	offered := ""
	press := v.patiently(kb.Tab)
	v.until("WriteCSV of package figures is offered", notebookTimeout, func() bool {
		if v.ask(&names, "completions"); len(names) == 0 { // with a list, Tab would choose from it
			press()
		}
		offered = strings.Join(names, " ")
		return slices.Contains(names, "figures.WriteCSV") || slices.Contains(names, "WriteCSV")
	}, &offered)
	v.shot("tab", nil)
	v.keys(kb.Escape)
	v.keys("WriteCSV")
	help := ""
	press = v.patiently(kb.Tab, chromedp.KeyModifiers(input.ModifierShift))
	v.until("the name is explained", notebookTimeout, func() bool {
		if v.ask(&help, "help"); help == "" {
			press()
		}
		return help != ""
	})
	v.shot("help", nil)
	if !strings.Contains(help, "WriteCSV(w io.Writer, rows") || !strings.Contains(help, "one line for each row") {
		t.Errorf("the explanation is %q", help)
	}
}

// keys types a text or presses a key.
func (v view) keys(text string, options ...chromedp.KeyOption) {
	v.Helper()
	if err := chromedp.Run(v.ctx, chromedp.KeyEvent(text, options...)); err != nil {
		v.Fatal(err)
	}
}

// patiently returns a function that presses a key, but not while an answer to the last press may be on its way: another
// press would send a new request for it.
func (v view) patiently(key string, options ...chromedp.KeyOption) (press func()) {
	var last time.Time
	return func() {
		if time.Since(last) > 10*time.Second {
			v.keys(key, options...)
			last = time.Now()
		}
	}
}

// A server that ends, by Ctrl-C or killed, leaves no kernel, cell or gopls behind. The second SIGINT answers the
// server's question whether it shall end.
func TestServerEnds(t *testing.T) {
	browser, python := needed(t)
	for name, signals := range map[string][]os.Signal{
		"interrupted": {os.Interrupt, os.Interrupt}, "killed": {os.Kill},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := newView(t, browser, name)
			lab := startLab(t, python, notebook(t, "endless.ipynb", `%%\nfor {\n\ttime.Sleep(time.Second)\n}`), "")
			v.start(lab.address, "endless.ipynb")
			v.until("relay, gonb, gopls and the cell run", notebookTimeout, func() bool {
				found := map[string]bool{}
				for _, command := range lab.processes() {
					program, _, _ := strings.Cut(command, " ")
					found[filepath.Base(program)] = true
					found["cell"] = found["cell"] || strings.Contains(command, "/gonb_")
				}
				return found["tvps-kernel"] && found["gonb"] && found["gopls"] && found["cell"]
			})
			for _, s := range signals {
				lab.signal(s)
				time.Sleep(time.Second)
			}
			v.until("the server ends", time.Minute, func() bool { return !answers(t.Context(), lab.address, "status") })
			v.ended(lab)
		})
	}
}

// newView opens a browser. The names of its screenshots begin with stem.
func newView(t *testing.T, browser, stem string) (view, *traffic) {
	dir := os.Getenv("TVPS_BROWSER_OUT")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "tvps-browser")
	}
	demand.NoError(t, os.MkdirAll(dir, 0o755))
	ctx, net := open(t, browser)
	shot := func(name string, clip *page.Viewport) {
		var picture []byte
		err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
			p := page.CaptureScreenshot()
			if clip != nil {
				p = p.WithClip(clip)
			}
			picture, err = p.Do(ctx)
			return err
		}))
		file := filepath.Join(dir, stem+"-"+name+".png")
		if err == nil {
			err = os.WriteFile(file, picture, 0o644)
		}
		if err != nil {
			t.Errorf("no screenshot %s: %v", file, err)
		}
		t.Logf("screenshot %s", file)
	}
	return view{t, ctx, shot}, net
}

// start opens a notebook in a workspace of its own and starts all cells.
func (v view) start(address, name string) {
	url := fmt.Sprintf("%s/lab/workspaces/%s/tree/%s?token=%s", address, strings.TrimSuffix(name, ".ipynb"), name, token)
	if err := chromedp.Run(v.ctx, chromedp.Navigate(url), chromedp.Evaluate(probe, nil)); err != nil {
		v.Fatal(err)
	}
	why := "?"
	v.until("the notebook is open and its kernel connected", 3*time.Minute, func() bool {
		v.ask(&why, "ready")
		return why == ""
	}, &why)
	v.do("run")
}

// run opens a notebook and runs all cells.
func (v view) run(address, name string) {
	v.start(address, name)
	begin := time.Now()
	var s struct {
		Ran, Kernel              string
		Cells, Executed, Outputs int
		Errors                   []string
	}
	v.until("all cells have run", notebookTimeout, func() bool { v.ask(&s, "state"); return s.Ran != "running" })
	v.Logf("%d cells in %v", s.Cells, time.Since(begin).Round(time.Second))
	var shown []string
	v.ask(&shown, "shownErrors")
	if s.Ran != "done" || s.Kernel != "tvps" || s.Cells == 0 || s.Executed != s.Cells || s.Outputs == 0 ||
		len(s.Errors)+len(shown) > 0 {
		v.shot("failed", nil)
		v.Fatalf("%+v; errors shown: %q", s, shown)
	}
}

// charts checks each chart of the notebook.
func (v view) charts(want int) {
	var positions []position
	v.ask(&positions, "chartCells")
	if len(positions) != want {
		v.Errorf("%d charts, want %d", len(positions), want)
	}
	for i, at := range positions {
		v.chart(i+1, at)
	}
}

type drawing struct {
	X, Y, Width, Height float64
	Series              []struct {
		Name, Type string
		Points     int
	}
	Drawn int // lines
}

// chart checks that a chart is drawn and shows a tooltip at the mouse.
func (v view) chart(number int, at position) {
	v.do("cell", at.Cell)
	var d *drawing
	v.until(fmt.Sprintf("chart %d is drawn", number), time.Minute, func() bool {
		v.ask(&d, "chart", at)
		return d != nil && d.Drawn > 0
	})
	time.Sleep(1500 * time.Millisecond) // the animation of a new chart, and scrolling
	v.ask(&d, "chart", at)
	lines := 0
	for _, s := range d.Series {
		if s.Type == "line" && s.Points > 1 {
			lines++
		}
	}
	if lines < 1 || d.Drawn < lines || d.Width < 300 || d.Height < 300 {
		v.Errorf("chart %d is not drawn: %+v", number, *d)
	}
	var spot struct {
		X, Y float64
		Name string
	}
	v.ask(&spot, "spot", at)
	text := v.hover(at, spot.X, spot.Y)
	if !strings.Contains(text, spot.Name) {
		v.Errorf("chart %d: the tooltip over %s is %q", number, spot.Name, text)
	}
	v.shot(fmt.Sprint("window", number), nil)
	v.shot(fmt.Sprint("chart", number), &page.Viewport{X: d.X, Y: d.Y, Width: d.Width, Height: d.Height, Scale: 1})
	v.Logf("chart %d: %d lines, tooltip %q", number, lines, text)
}

// hover moves the mouse to a position and returns the tooltip. ECharts shows a tooltip only at the second move, after
// a pause.
func (v view) hover(at position, x, y float64) (text string) {
	v.until("a tooltip shows", time.Minute, func() bool {
		for _, d := range []float64{-6, 0} {
			if err := chromedp.Run(v.ctx, chromedp.MouseEvent(input.MouseMoved, x+d, y+d),
				chromedp.Sleep(400*time.Millisecond)); err != nil {
				v.Fatal(err)
			}
		}
		v.ask(&text, "tooltip", at)
		return text != ""
	})
	return text
}
