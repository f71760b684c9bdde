package figures

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(demand.Files(t, dir)))
}

// readRows reads a table.
func readRows(t *testing.T, dir, name string) []Row {
	t.Helper()
	rows, err := ReadCSV(bytes.NewReader(demand.Read(t, filepath.Join(dir, name))))
	demand.NoError(t, err)
	return rows
}

// TestSums: the checksums are the last file that gets its name, and name every file that is not of their drawing, as
// after a process was killed before that.
func TestSums(t *testing.T) {
	fig := sampleFigure(t)
	fig.Panels[0].Judged = []Row{{"a", "ours", 9, 1, "accuracy", 1}}
	files, err := render(fig, sampleRows(), nil)
	if err != nil || files[len(files)-1].name != SumsFile {
		t.Fatalf("the last file is %s, %v", files[len(files)-1].name, err)
	}
	dir := filepath.Join(t.TempDir(), "out[1]") // no pattern of names
	demand.NoError(t, os.Mkdir(dir, 0o755))
	if _, err := OpenFolder(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	demand.NoError(t, Write(fig, sampleRows(), "first", dir))
	for _, name := range []string{"fig01-a.csv", "fig01-a-judged.csv", ProvenanceFile} {
		f, err := OpenFolder(dir)
		demand.NoError(t, err)
		want := demand.Read(t, filepath.Join(dir, name))
		if got, err := f.Read(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		other := append(bytes.Clone(want), '\n')
		demand.Write(t, filepath.Join(dir, name), other)
		_, err = f.Read(name)
		demand.Error(t, err, name+" is not the file that SHA256SUMS")
		os.Remove(filepath.Join(dir, name))
		_, err = f.Read(name)
		demand.Error(t, err, name+" is missing")
		demand.Write(t, filepath.Join(dir, name), want)
	}
	demand.Write(t, filepath.Join(dir, ProvenanceFile+".bak"), []byte("of another program"))
	f, err := OpenFolder(dir)
	demand.NoError(t, err)
	if _, err := f.Read("fig01-b.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was never written: %v", err)
	}
	sums := filepath.Join(dir, SumsFile)
	for _, lose := range []func() error{
		func() error { return os.Truncate(sums, 0) },
		func() error { return os.Remove(sums) },
	} {
		demand.NoError(t, lose())
		_, err = OpenFolder(dir)
		demand.Error(t, err, "no line of SHA256SUMS is for provenance.json")
	}
}

// TestCompact: a compact folder has one picture a panel, no page, and compressed tables, which read as the others do;
// what an earlier drawing of the other form or of other panels left is gone, and a page links to what is there.
func TestCompact(t *testing.T) {
	fig, dir := sampleFigure(t), t.TempDir()
	fig.Panels[0].Judged = []Row{{"a", "ours", 9, 1, "accuracy", 1}}
	for _, name := range []string{"fig01-b.csv.gz", "fig01-b.png", "fig01-b-judged.csv", "fig01-a-metrics.csv", "fig01-notes.csv"} {
		demand.Write(t, filepath.Join(dir, name), "old") // the last one is the user's
	}
	var tables []string
	want := map[bool]string{
		false: "SHA256SUMS echarts.min.js fig01-a-judged.csv fig01-a.csv fig01-a.pdf fig01-a.png fig01-a.svg fig01-notes.csv index.html provenance.json",
		true:  "SHA256SUMS fig01-a-judged.csv.gz fig01-a.csv.gz fig01-a.svg fig01-notes.csv provenance.json.gz",
	}
	for _, compact := range []bool{false, true, false, true} {
		fig.Compact = compact
		demand.NoError(t, Write(fig, sampleRows(), "origin", dir))
		demand.Equal(t, strings.Join(names(t, dir), " "), want[compact], "compact %v: files", compact)
		folder, err := OpenFolder(dir)
		demand.NoError(t, err)
		table, err := folder.Read("fig01-a.csv")
		judged, judgedErr := folder.Read("fig01-a-judged.csv")
		if err != nil || judgedErr != nil || !strings.Contains(string(judged), "a,ours,9,1,accuracy,1") {
			t.Errorf("compact %v: %q, %v, %v", compact, judged, err, judgedErr)
		}
		tables = append(tables, string(table))
		page, _ := os.ReadFile(filepath.Join(dir, PageFile)) // a compact folder has none
		for _, m := range regexp.MustCompile(`<a href="([^"#]+)"`).FindAllSubmatch(page, -1) {
			if !strings.Contains(want[false]+" ", " "+string(m[1])+" ") {
				t.Errorf("the page links to %s", m[1])
			}
		}
	}
	if len(slices.Compact(tables)) != 1 {
		t.Error("the tables differ between the forms")
	}
	whole := demand.Read(t, filepath.Join(dir, "fig01-a.csv.gz"))
	demand.Write(t, filepath.Join(dir, "fig01-a.csv.gz"), whole[:len(whole)/2])
	folder, err := OpenFolder(dir)
	if err == nil {
		_, err = folder.Read("fig01-a.csv")
	}
	demand.Error(t, err, "fig01-a.csv.gz is not the file that SHA256SUMS lists")
}

// echarts560 is the SHA-256 of the script in npm's package echarts 5.6.0.
const echarts560 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

// The script lies next to the page, and every file has the same bytes when it is made again.
func TestWriteWithECharts(t *testing.T) {
	first, again := filepath.Join(t.TempDir(), "new", "fig01"), t.TempDir()
	rows := append(sampleRows(), Row{"b", "ours", 0, 1, "accuracy", 1})
	for _, dir := range []string{first, again} {
		demand.NoError(t, Write(sampleFigure(t), rows, map[string]string{"commit": "abc"}, dir))
	}
	const drawing = "SHA256SUMS echarts.min.js fig01-a.csv fig01-a.pdf fig01-a.png fig01-a.svg index.html provenance.json"
	demand.Equal(t, strings.Join(names(t, first), " "), drawing, "files")
	demand.List(t, readRows(t, first, "fig01-a.csv"), sampleRows(), "the CSV of panel a, which has just its rows")
	if origin := demand.Read(t, filepath.Join(first, ProvenanceFile)); string(origin) != "{\n  \"commit\": \"abc\"\n}\n" {
		t.Errorf("provenance %s", origin)
	}
	for _, name := range names(t, first) {
		one := demand.Read(t, filepath.Join(first, name))
		two, err := os.ReadFile(filepath.Join(again, name))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s differs when it is made again, %v", name, err)
		}
		switch {
		case name == ScriptFile && fmt.Sprintf("%x", sha256.Sum256(one)) != echarts560:
			t.Errorf("%s is not the published script", name)
		case strings.HasSuffix(name, ".pdf") &&
			!(bytes.HasPrefix(one, []byte("%PDF-")) && bytes.Contains(one, []byte("D:20000101000000"))):
			t.Errorf("%s is no PDF, or one that holds the time", name)
		}
	}
}

func TestWriteLeavesNothingWhenItFails(t *testing.T) {
	base := t.TempDir()
	blocked := filepath.Join(base, "file")
	demand.Write(t, blocked, "x")
	err := Write(sampleFigure(t), sampleRows(), nil, blocked)
	demand.Error(t, err, "cannot write fig01", "another output folder")
	dir := filepath.Join(base, "out")
	spoilt := sampleRows()
	spoilt[3].Value = 1 / zero
	for _, c := range []struct {
		rows       []Row
		provenance any
		want       string
	}{
		{nil, nil, "panel a"}, {spoilt, nil, "panel a"}, {sampleRows(), func() {}, "provenance of fig01"},
	} {
		demand.Error(t, Write(sampleFigure(t), c.rows, c.provenance, dir), c.want)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("the folder was made before the error on %s", c.want)
		}
	}
}

var zero float64

// An error names the file, not the temporary file of which a reader knows nothing.
func TestFullDiskNamesTheFile(t *testing.T) {
	if dir := os.Getenv("FIGURES_WRITE"); dir != "" {
		fmt.Println(Write(sampleFigure(t), sampleRows(), nil, dir))
		return
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 2; exec "$0" -test.run FullDisk`, os.Args[0]) // 1 kB
	cmd.Env = append(os.Environ(), "FIGURES_WRITE="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte(": index.html: file too large\n")) {
		t.Errorf("the error is %q", out)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

// Rows by which claims are judged are a file of their own, as are further metrics, and the page has them. A
// drawing that fails leaves them (TestCompact: a later one removes what it does not have).
func TestJudgedRows(t *testing.T) {
	fig, dir := sampleFigure(t), t.TempDir()
	rows := append(sampleRows(), Row{"a", "ours", 9, 1, "accuracy", .3})
	fig.Panels[0].Judged = rows
	fig.Panels[0].Metrics = []Row{{"a", "ours", 9, 1, "loss", .4}}
	demand.NoError(t, Write(fig, sampleRows(), nil, dir))
	for name, want := range map[string][]Row{"fig01-a.csv": sampleRows(), "fig01-a-judged.csv": rows,
		"fig01-a-metrics.csv": fig.Panels[0].Metrics} {
		demand.List(t, readRows(t, dir, name), want, "%s", name)
	}
	demand.Words(t, string(demand.Read(t, filepath.Join(dir, "index.html"))),
		`, <a href="fig01-a-judged.csv">fig01-a-judged.csv</a>, `+
			`<a href="fig01-a-metrics.csv">fig01-a-metrics.csv</a></p>`)
	spoilt := sampleFigure(t)
	spoilt.Panels[0].Judged = []Row{{"a", "ours", 0, 1, "accuracy", 1 / zero}}
	demand.Error(t, Write(spoilt, sampleRows(), nil, dir), "panel a")
	if got := names(t, dir); !slices.Contains(got, "fig01-a-judged.csv") {
		t.Errorf("a drawing that failed removed the rows of the one before: %v", got)
	}
}

// FuzzReadCSV: what is refused is an error of one sentence that names the line; rows that are read are finite, and the
// same after they were written and read again. Memory is bounded by the size of the text.
func FuzzReadCSV(f *testing.F) {
	header := strings.Join(csvHeader, ",") + "\n"
	for _, rows := range []string{"a,ours,0,5,accuracy,0.5\n", "a,\"x,\"\"y\",-1,0,m,1e-320\n", "a,b,0,0,m,NaN\n",
		"a,b,x,0,m,1\n", "b,ours,9223372036854775807,160,m,0.3333333333333333\n", "a,b,0,9223372036854775808,m,1\n", "a,b,0\n", "\"a\nb\",c,0,1,m,-0\n", "\"a", "a\"b,c,0,1,m,2\n",
		"a\r\nb,c\r\n", "a,b,0,0,m,0x1p-3\r\n", "\"a\r\r\nb\",c,0,1,m,2\n", "\n\n"} {
		f.Add([]byte(header + rows))
	}
	f.Add([]byte("panel,series\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := ReadCSV(bytes.NewReader(text))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(100*len(text)+1<<20) {
			t.Errorf("%d bytes took %d bytes of memory", len(text), took)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q names no line, or has several", err)
			}
			return
		}
		if bytes.Contains(text, []byte("\r")) {
			return // CSV does not keep it
		}
		var written bytes.Buffer
		if err := WriteCSV(&written, rows); err != nil {
			t.Fatalf("%v cannot be written: %v", rows, err)
		}
		if again, err := ReadCSV(&written); err != nil || !slices.Equal(again, rows) {
			t.Errorf("%+v was read as %+v, %v", rows, again, err)
		}
	})
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	head := "panel,series,seed,t,metric,value\na,ours,0,1,accuracy,0.1\n"
	for text, want := range map[string]string{
		"":                                   "line 1",
		"panel,series,t,seed,metric,value\n": "line 1",
		head + "a,ours,0,1,accuracy\n":       "line 3: 5 fields",
		head + "a,ours,x,1,accuracy,0\n":     `line 3: the seed "x"`,
		head + "a,ours,0,1.5,accuracy,0\n":   `line 3: the step t "1.5"`,
		head + "a,ours,0,1,accuracy,NaN\n":   `line 3: the value "NaN" is not a finite number`,
		head + "a,\"ours,0,1,accuracy,0\n":   "line 3",
	} {
		_, err := ReadCSV(strings.NewReader(text))
		demand.Error(t, err, want)
	}
	err := WriteCSV(&bytes.Buffer{}, []Row{{"b", "ours", 3, 4, "accuracy", math.Inf(1)}})
	demand.Error(t, err, "panel b, series ours, seed 3, t 4")
}
