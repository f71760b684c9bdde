package ci

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/paper"
)

//go:embed tolerances.json
var tolerances []byte

var update = flag.Bool("update", false, "make the figures and rewrite the goldens")

// outEnv is the environment variable with the folder of figures that .ci/run has made. If it
// is not set, the test makes them.
const outEnv = "TVPS_CI_OUT"

// TestGolden compares the tiny figures with their goldens. It takes minutes and needs an XLA
// plugin, so it runs only with TVPS_CI=1 or -update.
func TestGolden(t *testing.T) {
	if os.Getenv("TVPS_CI") != "1" && !*update {
		t.Skip("set TVPS_CI=1 to compare the tiny figures with their goldens")
	}
	rules, err := ParseTolerances(tolerances)
	demand.NoError(t, err)
	out := os.Getenv(outEnv)
	if out == "" {
		out = makeFigures(t)
	}
	for _, f := range paper.Figures() {
		name := f.Name()
		t.Run(name, func(t *testing.T) {
			got := readFigure(t, filepath.Join(out, name), name)
			path := filepath.Join("golden", name+"-tiny.csv")
			if *update {
				writeGolden(t, path, got)
				return
			}
			for _, v := range Compare(name, readGolden(t, path), got, rules) {
				t.Errorf("%s differs from %s: %+v", name, path, v)
			}
		})
	}
}

// TestEveryFigureIsCovered: each figure of the catalog has its golden numbers, its notebook, and its place in the
// gallery; and nothing else has.
func TestEveryFigureIsCovered(t *testing.T) {
	for pattern, where := range map[string]string{
		"golden/%s-tiny.csv":                "make it with `go test ./ci -run Golden -count=1 -update`",
		"../notebooks/%s.ipynb":             "copy that of another figure and change its number and text",
		"../figures/gallery/%s/claims.json": "make the figure at the small scale and copy its folder",
	} {
		var want []string
		for _, f := range paper.Figures() {
			want = append(want, filepath.FromSlash(fmt.Sprintf(pattern, f.Name())))
		}
		for _, path := range want {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("ci/%s is missing: %s", path, where)
			}
		}
		found, err := filepath.Glob(filepath.FromSlash(fmt.Sprintf(pattern, "fig[0-9][0-9]")))
		demand.NoError(t, err)
		for _, path := range found {
			if !slices.Contains(want, path) {
				t.Errorf("ci/%s is of no figure", path)
			}
		}
	}
}

// makeFigures makes all tiny figures in a temporary folder and returns it. It uses the user's
// cache.
func makeFigures(t *testing.T) string {
	tmp := t.TempDir()
	program, out := filepath.Join(tmp, "replicate"), filepath.Join(tmp, "out")
	for _, args := range [][]string{
		{"go", "build", "-o", program, "./replicate"},
		{program, "all", "--scale", "tiny", "--results", filepath.Join(tmp, "results"), "--out", out},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = ".."
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
		}
	}
	return out
}

// readFigure reads the CSV files of all panels.
func readFigure(t *testing.T, dir, name string) []figures.Row {
	files, err := filepath.Glob(filepath.Join(dir, name+"-?.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no %s-?.csv in %s (%v)", name, dir, err)
	}
	var rows []figures.Row
	for _, file := range files {
		rows = append(rows, readCSV(t, file)...)
	}
	return rows
}

func readGolden(t *testing.T, path string) []figures.Row {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("there is no golden ci/%s; make it with `go test ./ci -run Golden -count=1 -update`", path)
	}
	return readCSV(t, path)
}

func readCSV(t *testing.T, path string) []figures.Row {
	rows, err := figures.ReadCSV(bytes.NewReader(demand.Read(t, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

func writeGolden(t *testing.T, path string, rows []figures.Row) {
	var text bytes.Buffer
	demand.NoError(t, figures.WriteCSV(&text, Sorted(rows)))
	demand.Write(t, path, text.Bytes())
	t.Logf("wrote %d values to ci/%s", len(rows), path)
}
