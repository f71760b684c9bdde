package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// workplace is a lab in temporary folders, with what it prints.
type workplace struct {
	*Lab
	tables         []paper.Table // of the study
	options        Options
	results        string
	stdout, stderr bytes.Buffer
}

// newWorkplace returns options for panel a in miniature: 4 runs of 3 steps for each of 2 seeds.
func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{results: filepath.Join(t.TempDir(), "results")}
	store, err := runs.Open(w.results)
	if err != nil {
		t.Fatal(err)
	}
	host := &experiment.Host{Backend: backendtest.Open(t, backend.Go), CacheDir: t.TempDir()}
	w.Lab = &Lab{Catalog: testCatalog, Archive: claims.Archive{Host: host, Store: store}, Stdout: &w.stdout,
		Stderr: &w.stderr}
	w.options = Options{Scale: "tiny", Panels: []string{"a"}, Seeds: []int64{0, 1}, Workers: 2,
		Out: filepath.Join(t.TempDir(), "new", "out"),
		Overrides: []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2", "max-updates=3",
			"g-updates=3", "batch=16", "g-batch=16"}}
	return w
}

// fig1 makes Figure 1.
func (w *workplace) fig1(t *testing.T) *Result {
	t.Helper()
	r, err := w.Make(context.Background(), paper.Fig1(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read returns a file of the output folder.
func (w *workplace) read(t *testing.T, name string) []byte {
	t.Helper()
	return demand.Read(t, filepath.Join(w.options.Out, name))
}

// TestFig1: panel a has all files, its CSV, claims and provenance are complete. The second call computes nothing and
// writes the same CSV.
func TestFig1(t *testing.T) {
	w := newWorkplace(t)
	r := w.fig1(t)
	if r.Report.Computed != 8 {
		t.Errorf("computed %d runs, want 8", r.Report.Computed)
	}
	entries, err := os.ReadDir(w.options.Out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	const want = "SHA256SUMS claims.json echarts.min.js fig01-a.csv fig01-a.pdf fig01-a.png fig01-a.svg index.html provenance.json"
	if strings.Join(names, " ") != want {
		t.Errorf("files %v, want %s", names, want)
	}
	table := w.read(t, "fig01-a.csv")
	checkCSV(t, table)
	checkClaims(t, w.read(t, "claims.json"))
	checkProvenance(t, w.read(t, "provenance.json"))
	for _, words := range []string{"everything", "ours", "Claims of the paper, here:",
		filepath.Join(w.options.Out, "index.html")} {
		if !strings.Contains(strings.ToLower(w.stdout.String()), strings.ToLower(words)) {
			t.Errorf("the terminal lacks %q:\n%s", words, &w.stdout)
		}
	}
	for _, words := range []string{"Scale tiny, 2 seeds", "N = 30 samples a step", "every 2nd step of 7"} {
		if !strings.Contains(string(w.read(t, "index.html")), words) {
			t.Errorf("the page lacks %q", words)
		}
	}
	checkPage(t, string(w.read(t, "index.html")), r)
	again := w.fig1(t)
	if again.Report.Computed != 0 || again.Report.Cached != 8 {
		t.Errorf("the second call computed %d runs", again.Report.Computed)
	}
	if !bytes.Equal(w.read(t, "fig01-a.csv"), table) {
		t.Error("the second call wrote another CSV")
	}
	checkDamagedResult(t, w)
}

// checkDamagedResult: a damaged file is moved to quarantine and named. Its run is computed again, and the figure is the
// same.
func checkDamagedResult(t *testing.T, w *workplace) {
	t.Helper()
	table := w.read(t, "fig01-a.csv")
	files, err := filepath.Glob(filepath.Join(w.results, "gaussian", "*.jsonl.zst"))
	if err != nil || len(files) != 8 {
		t.Fatalf("%d result files, %v", len(files), err)
	}
	data := demand.Read(t, files[3])
	data[len(data)-20] ^= 1
	demand.Write(t, files[3], data)
	w.stderr.Reset()
	r := w.fig1(t)
	if r.Report.Computed != 1 || !slices.Equal(r.Report.Quarantined, files[3:4]) ||
		!strings.Contains(w.stderr.String(), files[3]) {
		t.Errorf("computed %d, quarantined %v, printed:\n%s", r.Report.Computed, r.Report.Quarantined, &w.stderr)
	}
	if !bytes.Equal(w.read(t, "fig01-a.csv"), table) {
		t.Error("the figure differs after its run was computed again")
	}
	if put, _ := filepath.Glob(filepath.Join(w.results, "quarantine", "*.jsonl.zst")); len(put) != 1 {
		t.Errorf("in quarantine: %v", put)
	}
}

// checkPage demands that the page has the verdicts, the means, the command and the links.
func checkPage(t *testing.T, page string, r *Result) {
	t.Helper()
	page = html.UnescapeString(page)
	for _, c := range r.Claims {
		want := fmt.Sprintf("%s</span></td></tr>", c.Verdict)
		_, row, _ := strings.Cut(page, c.Text+" <span")
		row, _, _ = strings.Cut(row, "\n")
		if !strings.HasSuffix(row, want) || !strings.Contains(row, c.Says) || !strings.Contains(row, c.Place) {
			t.Errorf("the page lacks the claim %s with its verdict %q: %s", c.ID, c.Verdict, row)
		}
	}
	for _, line := range r.Tables[0].Cells() {
		for _, cell := range line {
			if cell != "" && !strings.Contains(page, ">"+cell+"<") {
				t.Errorf("the page lacks the mean %q", cell)
			}
		}
	}
	for _, want := range []string{
		">" + r.Figure.Command + "</code>", " --panel a", `<a href="claims.json">`, `<a href="provenance.json">`,
		`<a href="fig01-a.pdf">`, "8 stored runs, below the folder of --results: <code>gaussian</code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The command of a page has the options that the figure was made with. Options for several
// figures may not apply to this one: then it is the command for all figures.
func TestPageCommand(t *testing.T) {
	for want, o := range map[string]Options{
		"fig1 --scale tiny --set n=3 --panel a,b --series ours,recent": {
			Panels: []string{"a", "b"}, Learners: []string{"ours", "recent"}, Overrides: []string{"n=3"},
		},
		"fig1 --scale tiny --seeds 4": {Seeds: []int64{4}, AllFigures: true},
		"all --scale tiny --set n=3":  {Overrides: []string{"n=3"}, AllFigures: true},
	} {
		o.Scale = "tiny"
		if got := o.pageCommand(paper.Fig1()); got != "go run ./replicate "+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func checkCSV(t *testing.T, table []byte) {
	t.Helper()
	if !bytes.HasPrefix(table, []byte("panel,series,seed,t,metric,value\n")) {
		t.Errorf("the CSV begins with %.60q", table)
	}
	rows, err := figures.ReadCSV(bytes.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Series]++
		if r.Panel != "a" || r.Metric != "accuracy" || r.Value < 0 || r.Value > 1 || r.T%2 != 1 {
			t.Errorf("row %+v", r)
		}
	}
	for _, name := range []string{"everything", "recent", "finetune", "ours"} {
		if count[name] != 6 {
			t.Errorf("%s has %d rows, want 2 seeds of 3 steps", name, count[name])
		}
	}
	if len(rows) != 24 {
		t.Errorf("%d rows", len(rows))
	}
}

func checkClaims(t *testing.T, text []byte) {
	t.Helper()
	var judged []struct {
		ID, Verdict string
		Parts       []struct {
			Panel  string
			Effect struct{ N int }
		}
	}
	if err := json.Unmarshal(text, &judged); err != nil {
		t.Fatal(err)
	}
	for _, c := range judged {
		if slices.Contains([]string{"fig1-no-trend", "fig1-only-ours"}, c.ID) { // about other panels, too
			if c.Verdict != string(claims.NotRun) {
				t.Errorf("claim %+v", c)
			}
			continue
		}
		if !strings.HasPrefix(c.ID, "fig1a-") || c.Verdict == "" || c.Verdict == string(claims.NotRun) {
			t.Errorf("claim %+v", c)
		}
		for _, p := range c.Parts {
			if p.Panel != "a" || p.Effect.N != 2 {
				t.Errorf("claim %s, part %+v", c.ID, p)
			}
		}
	}
	want := 0
	for _, c := range paper.Fig1().Claims {
		if c.Parts[0].Panel == "a" {
			want++
		}
	}
	if len(judged) != want {
		t.Errorf("%d claims of panel a", len(judged))
	}
}

func checkProvenance(t *testing.T, text []byte) {
	t.Helper()
	var p struct {
		Scale    string
		Seeds    []int64
		Settings map[string]map[string]string
		Runs     []struct{ ID, Run string }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Scale != "tiny" || !slices.Equal(p.Seeds, []int64{0, 1}) || p.Settings["a"]["max-updates"] != "3" ||
		len(p.Runs) != 8 || len(p.Runs[0].ID) != 16 {
		t.Errorf("provenance %+v", p)
	}
}

// TestUnwritableFolders: folders that cannot be written are found before anything is computed.
func TestUnwritableFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	demand.Write(t, file, "")
	w := newWorkplace(t)
	w.options.Out = filepath.Join(file, "out")
	_, err := w.Make(context.Background(), paper.Fig1(), w.options)
	demand.Error(t, err, w.options.Out, "choose another")
	if done, _ := filepath.Glob(filepath.Join(w.results, "*", "*")); len(done) > 0 {
		t.Errorf("runs were computed before the error: %v", done)
	}
	w = newWorkplace(t)
	demand.Write(t, filepath.Join(w.results, "gaussian"), "")
	_, err = w.Make(context.Background(), paper.Fig1(), w.options)
	demand.Error(t, err, w.results)
	var typed *runs.FolderError
	if !errors.As(err, &typed) {
		t.Errorf("%T is not the typed error that the command line gives advice on", err)
	}
}

// stopper is a log that cancels when two runs are reported as finished: enough to draw something.
type stopper struct {
	bytes.Buffer
	cancel context.CancelFunc
	done   int
}

func (s *stopper) Write(text []byte) (int, error) {
	if s.done += bytes.Count(text, []byte(": done in ")); s.done >= 2 {
		s.cancel()
	}
	return s.Buffer.Write(text)
}
