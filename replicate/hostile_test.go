package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/usage"

	"github.com/klauspost/compress/gzip"
)

// onTables are the commands on a user's own table, each with flags for a quick run and its output files.
var onTables = []struct {
	name    string
	quick   []string
	outputs []string // flag and file, in turn
}{
	{"weights", []string{"--permutations", "0", "--updates", "3"},
		[]string{"--out", "w.csv", "--json", "w.json"}},
	{"backtest", []string{"--kinds", "none", "--updates", "30"},
		[]string{"--out", "page", "--json", "b.json", "--results", "runs"}},
	{"drift", []string{"--permutations", "99"}, []string{"--out", "page", "--json", "d.json"}},
}

// hostile is a table, or flags that contradict it, and what the sentence about it must contain.
type hostile struct {
	name  string
	table string   // its content
	args  []string // they override --time day and --label y; TABLE is the file, DIR its folder
	want  []string
	make  func(path string) error // makes the file instead of table
	only  string                  // the one command that has these flags; empty for all
}

// execute runs the program in this process. stderr is what Main would print of the error.
func execute(args ...string) (code int, stdout, stderr string) {
	var out bytes.Buffer
	cmd, ctx := root(paperCatalog), context.Background()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		stderr = fmt.Sprintf("%s: %v%s\n", cmd.Name(), err, advice(err))
	}
	return usage.ExitCode(ctx, err), out.String(), stderr
}

// onTable runs a command on a table of a folder. Its outputs go to the folder out.
func onTable(command int, file, out string, args ...string) (code int, stdout, stderr string) {
	c := onTables[command]
	all := slices.Concat([]string{c.name, file, "--time", "day", "--label", "y"}, c.quick)
	for i := 0; i < len(c.outputs); i += 2 {
		all = append(all, c.outputs[i], filepath.Join(out, c.outputs[i+1]))
	}
	return execute(append(all, args...)...)
}

// TestHostileTables: every mistake in a table or in what is asked of it ends every command with exit code 2 and one
// sentence, writes nothing, and takes less than 1 GB. More mistakes in a file are in the tests of data/table.
func TestHostileTables(t *testing.T) {
	for i, c := range onTables {
		code, _, stderr := onTable(i, "", t.TempDir())
		if code != 2 || !strings.Contains(stderr, "name of the table is empty") {
			t.Errorf("%s of no file: exit code %d, %s", c.name, code, stderr)
		}
	}
	cases := slices.Concat(hostileTexts(), hostileFiles(), hostileRequests())
	for _, h := range cases {
		for i, c := range onTables {
			if h.only != "" && h.only != c.name {
				continue
			}
			t.Run(c.name+"/"+h.name, func(t *testing.T) { h.check(t, i) })
		}
	}
}

func (h hostile) check(t *testing.T, command int) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "table.csv"), filepath.Join(dir, "out")
	if h.make == nil {
		h.make = func(path string) error { return os.WriteFile(path, []byte(h.table), 0o644) }
	}
	if err := h.make(file); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var args []string
	for _, arg := range h.args {
		args = append(args, strings.NewReplacer("TABLE", file, "DIR", dir).Replace(arg))
	}
	code, stdout, stderr := onTable(command, file, out, args...)
	runtime.ReadMemStats(&after)
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, stdout %q", code, stdout)
	}
	oneSentence(t, stderr, h.want...)
	if named := strings.Contains(stderr, ": --"); !named && !strings.Contains(stderr, "flag") {
		oneSentence(t, stderr, dir) // no flag is wrong in itself
	}
	if strings.Contains(stderr, "propensity: ") || len(stderr) > 500+len(file) {
		t.Errorf("not in the user's terms: %q", stderr)
	}
	if files, _ := os.ReadDir(out); len(files) > 0 {
		t.Errorf("%v was written", files[0])
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
	if testing.Verbose() {
		t.Log(strings.ReplaceAll(strings.TrimSpace(stderr), dir+"/", ""))
	}
}

// TestLegalTables: tables that look wrong and are not. The same rows with dates out of order, as bytes of another
// kind, have the same weights; a table in which nothing can drift has weights of 1.
func TestLegalTables(t *testing.T) {
	dir := t.TempDir()
	weights := func(name string, content []byte, args ...string) map[string]float64 {
		file, out := filepath.Join(dir, name), filepath.Join(dir, name+".out")
		demand.Write(t, file, content)
		code, _, stderr := onTable(0, file, out, append(args, "--label=")...)
		text, err := os.ReadFile(filepath.Join(out, "w.csv"))
		if code != 0 || err != nil {
			t.Fatalf("%s: exit code %d, %s%v", name, code, stderr, err)
		}
		found := map[string]float64{}
		for line := range strings.Lines(strings.TrimPrefix(string(text), "row,weight,log_omega,spread\n")) {
			fields := strings.Split(line, ",")
			if found[fields[0]], err = strconv.ParseFloat(fields[1], 64); err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	lines := []string{"hour,x,city"}
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("2024-01-%02d 0%d:00,%d,Malmö %d", 1+i/5, i%5, i*37%11+i/30*9, i%3))
	}
	hours := []string{"--time", "hour", "--bin", "day"}
	sorted := weights("sorted.csv", []byte(strings.Join(lines, "\n")), hours...)
	slices.Reverse(lines[1:])
	latin1 := strings.ReplaceAll(strings.ReplaceAll(strings.Join(lines, "\r\n"), ",", ";"), "ö", "\xF6")
	reversed := weights("reversed.csv.gz", gzipped([]byte(latin1)), hours...)
	if len(sorted) != 60 || len(reversed) != 60 {
		t.Fatalf("%d and %d weights", len(sorted), len(reversed))
	}
	least, most := sorted["1"], sorted["1"]
	for i := range 60 {
		a, b := sorted[strconv.Itoa(1+i)], reversed[strconv.Itoa(60-i)]
		if math.Abs(a-b) > 1e-12*a { // their mean is taken in the order of the rows
			t.Errorf("row %d weighs %v, and %v if the dates are out of order", i+1, a, b)
		}
		least, most = min(least, a), max(most, a)
	}
	if most < 1.01*least {
		t.Errorf("all weights are about %v", most)
	}
	constant := "day,x\n" + strings.Repeat("-9007199254740992,7\n", 9) + strings.Repeat("9007199254740992,7\n", 9)
	for row, w := range weights("constant.csv", []byte(constant), "--bin", "3 blocks") {
		if math.Abs(w-1) > 1e-9 {
			t.Errorf("constant: row %s weighs %v", row, w)
		}
	}
}

// rowsOf returns a table of 5 rows on each of 12 days.
func rowsOf(line func(day, i int) string) string {
	text := ""
	for i := range 60 {
		text += line(1+i/5, i) + "\n"
	}
	return text
}

// good is a table without a mistake, with one cell replaced.
func good(old, with string) string {
	text := "day,x,c,y\n" + rowsOf(func(day, i int) string {
		x, city, y := i*37%11, []string{"p", "q", "r"}[i%3], []string{"no", "yes"}[i*37%11%2]
		return fmt.Sprintf("2024-01-%02d,%d.5,%s,%s", day, x, city, y)
	})
	return strings.Replace(text, old, with, 1)
}

func hostileTexts() []hostile {
	names := []string{"day", "y"}
	for i := range 9_999 {
		names = append(names, fmt.Sprint("c", i))
	}
	timed := func(header, line string) string {
		return header + "\n" + rowsOf(func(day, i int) string {
			date := fmt.Sprintf("2024-01-%02d", day)
			return strings.NewReplacer("D", date, "I", fmt.Sprint(i), "Y", fmt.Sprint(i%2)).Replace(line)
		})
	}
	return []hostile{
		{name: "five rows", table: good("", "")[:len("day,x,c,y\n")+5*len("2024-01-01,1.5,p,yes")],
			want: []string{"rows"}},
		{name: "a field of 20 MB", table: good("1.5", strings.Repeat("1", 20<<20)), want: nil},
		{name: "a file of one row of 10 MB", make: func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 10<<20), 0o644)
		}, want: []string{"longer than"}},
		{name: "label without values", table: timed("day,x,y", "D,I,"), want: []string{`column "y"`}},
		{name: "label of 60 texts", table: timed("day,x,y", "D,I,text I"),
			want: []string{`column "y"`, "the label is a text"}},
		{name: "only texts", table: timed("day,x,y", "D,note number I,Y"),
			want: []string{"no column is left as a feature"}},
		{name: "times of 64 bits", table: strings.NewReplacer("2024-01-01", "-9223372036854775808", "2024-01-02",
			"9223372036854775807").Replace(timed("day,x,y", "D,I,Y")), want: []string{`column "day"`}},
		{name: "one class up to T", table: timed("day,x,y", "D,I,no") + "2024-01-13,1,yes\n",
			args: []string{"--at", "2024-01-12"},
			only: "weights", want: []string{`column "y"`, "up to 2024-01-12", "--at"}},
		{name: "one number up to T", table: timed("day,x,y", "D,I,1.5") + "2024-01-13,1,2.5\n",
			args: []string{"--at", "2024-01-12"},
			only: "weights", want: []string{`column "y"`, `"1.5" in all rows up to 2024-01-12`, "--at"}},
		{name: "two different rows", args: []string{"--label="}, only: "weights",
			table: "day,x\n" + strings.Repeat("2024-01-02,1\n", 30) + strings.Repeat("2024-01-01,1\n", 30),
			want:  []string{"too few different values", "give more rows"}},
		{name: "three rows up to T", table: "day,x,y\n2024-01-01,1,a\n2024-01-02,2,b\n2024-01-03,1,a\n" +
			strings.Repeat("2024-01-04,2,b\n", 9), args: []string{"--at", "2024-01-03"}, only: "weights",
			want: []string{"3 rows up to 2024-01-03 are too few", "at least 6", "later time with --at"}},
		{name: "10,000 columns and a constant label", table: strings.Join(names[:10_000], ",") + "\n" +
			strings.Repeat("2024-01-01,a"+strings.Repeat(",1", 9_998)+"\n", 9) +
			"2024-01-02,a" + strings.Repeat(",2", 9_998) + "\n",
			want: []string{`column "y"`, `"a" in all rows`}},
	}
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

// hostileFiles are compressed, or no files of tables.
func hostileFiles() []hostile {
	return []hostile{
		{name: "missing file", make: func(string) error { return nil }, want: []string{"no such file"}},
		{name: "loop of links", make: func(path string) error { return os.Symlink(path, path) },
			want: []string{"cannot be opened"}},
		{name: "endless device", make: func(path string) error { return os.Symlink("/dev/zero", path) },
			want: []string{"is not a file"}},
		{name: "pipe", make: demand.Pipe,
			want: []string{"is a pipe", "save it to a file first"}},
	}
}

// hostileRequests are flags that contradict a good table.
func hostileRequests() []hostile {
	whole := good("", "")
	numeric := strings.ReplaceAll(whole, "2024-01-", "1")
	classes := "day,x,y\n" + rowsOf(func(day, i int) string {
		var lines []string
		for j := range 20 {
			line := fmt.Sprintf("2024-01-%02d,%d,c%d", day, j, 20*i+j)
			lines = append(lines, line, line)
		}
		return strings.Join(lines, "\n")
	})
	flags := func(name, want string, args ...string) hostile {
		return hostile{name: name, table: whole, args: args, want: strings.Split(want, "|")}
	}
	of := func(only, name, want string, args ...string) hostile {
		h := flags(name, want, args...)
		h.only = only
		return h
	}
	ofWeights := func(name, want string, args ...string) hostile { return of("weights", name, want, args...) }
	return []hostile{
		flags("label is the time", `column "day"|as the time and as the label|another one`, "--label", "day"),
		flags("no such label", `no column "z"`, "--label", "z"),
		flags("no such time", `no column "date"`, "--time", "date"),
		flags("label is dropped", `column "y"|--drop`, "--drop", "y"),
		flags("time is dropped", `column "day"|--drop`, "--drop", "day"),
		flags("all features are dropped", "no column is left as a feature", "--drop", "x,c"),
		ofWeights("everything is dropped", "no column is left to read", "--drop", "day,x,c,y", "--time=", "--label=",
			"--bin", "9 blocks"),
		flags("bin unknown", "--bin|wek", "--bin", "wek"),
		flags("no blocks", "--bin", "--bin", "0 blocks"),
		flags("neither time nor blocks", "--time is missing", "--time="),
		flags("label kind unknown", "--label-kind", "--label-kind", "float"),
		flags("kind of no label", "--label-kind|--label", "--label-kind", "class", "--label="),
		flags("type unknown", "--type|factor", "--type", "x=factor"),
		flags("delimiter of two", "--delimiter", "--delimiter", ";;"),
		flags("decimal mark", "--decimal", "--decimal", "x"),
		flags("quote", `--quote "'"|none`, "--quote", "'"),
		flags("skip", "--skip -1|at least 0", "--skip=-1"),
		flags("skip too much", "fewer than 10001 lines", "--skip", "10000"),
		flags("comment", `--comment "//"|one character`, "--comment", "//"),
		flags("comment is the delimiter", "the delimiter and the sign of comments", "--comment", ";", "--delimiter", ";"),
		flags("zone", "--zone", "--zone", "Mars/Base"),
		flags("seed", "--seed", "--seed", "x"),
		flags("no such flag", "--tyme", "--tyme", "day"),
		ofWeights("T before the first time", `"2023-01-01"|day`, "--at", "2023-01-01"),
		ofWeights("T is the first time", `2024-01-01 is the first time|--at`, "--at", "2024-01-01"),
		ofWeights("T after the last time", `"2025-01-01"|day`, "--at", "2025-01-01"),
		ofWeights("T is not a time", `"soon"|day`, "--at", "soon"),
		ofWeights("output is the table", "is the table itself|another file", "--out", "TABLE"),
		ofWeights("no output", "--out|name a file", "--out="),
		ofWeights("output is a folder", "name a file", "--out", "DIR"),
		ofWeights("two outputs in one file", "named for two outputs", "--out", "DIR/w.csv", "--json", "DIR/w.csv"),
		ofWeights("kind unknown", "--kind", "--kind", "joined"),
		ofWeights("conditional without a label", "--kind|--label", "--kind", "conditional", "--label="),
		ofWeights("clip", "--clip", "--clip", "2"),
		ofWeights("clip that no back test tests", "--clip exp1|--clip min1 only", "--kind", "auto", "--clip", "exp1"),
		ofWeights("half-life", "--half-life -1", "--half-life=-1"),
		ofWeights("updates", "--updates -1", "--updates=-1"),
		ofWeights("permutations", "--permutations -1", "--permutations=-1"),
		of("drift", "no folder", "--out is empty|name a folder", "--out="),
		of("drift", "permutations", "--permutations 5|from 99", "--permutations", "5"),
		of("backtest", "workers", "--workers 0", "--workers", "0"),
		of("backtest", "last", "--last from 4 to 10", "--last", "19"),
		of("backtest", "three blocks", "3 blocks|finer --bin", "--bin", "3 blocks"),
		{name: "T of numbers is a date", table: numeric, args: []string{"--at", "2024-01"}, only: "weights",
			want: []string{`"2024-01"`}},
		{name: "1,200 classes", table: classes, want: []string{`column "y"`, "1200 classes", "join classes"}},
	}
}
