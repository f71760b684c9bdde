package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
)

// costs are the cells of BenchmarkCell; {} is another number each time, so that each is compiled.
var costs = []struct{ kernel, name, code string }{
	{"python3", "trivial", "print({})"},
	{"tvps", "trivial", "%%\nfmt.Println({})"},
	{"tvps", "values", "import \"tvps/replicate/notebook\"\n\n%%\nnotebook.Values(map[string]float64{\"x\": {}})"},
	{"tvps", "plot", "import \"tvps/replicate/notebook\"\n\n%%\nx := []float64{0, {}}\n" +
		"notebook.Plot(1, \"t\", \"x\", \"y\", notebook.Curve(\"a\", x, x))"},
	{"tvps", "g", "import \"tvps/gomlx_models/propensity\"\n\n%%\nfmt.Println(propensity.DefaultConfig(), {})"},
	{"tvps", "backtest", "import \"tvps/replicate/notebook/backtest\"\n\n%%\nfmt.Println(backtest.Request{}, {})"},
	{"tvps", "found", "import \"tvps/replicate/notebook\"\n\n%%\nnotebook.Found(14)\nfmt.Print(\"{}\"[:0])"},
}

// cellMark marks the processes of a kernel by their environment.
const cellMark = "CELL_BENCHMARK"

// BenchmarkCell measures the processor seconds of cells in the kernels that Jupyter finds, as the median of 20: those
// of the kernel and of the processes below it, without gopls. The first cell after a start is measured apart. On Linux:
//
//	JUPYTER_PATH=PREFIX/share/jupyter go test ./ci/research -run xxx -bench Cell -benchtime 1x
func BenchmarkCell(b *testing.B) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		b.Skip("there is no /proc")
	}
	for _, c := range costs {
		b.Run(c.kernel+"/"+c.name, func(b *testing.B) {
			spec, err := jupyter.Find(c.kernel)
			if err != nil {
				b.Skip(err)
			}
			if spec.Env == nil {
				spec.Env = map[string]string{}
			}
			spec.Env[cellMark] = b.Name()
			for b.Loop() {
				k, err := jupyter.Start(b.Context(), spec, jupyter.Options{Dir: b.TempDir()})
				demand.NoError(b, err)
				var spent []float64
				for i := range 21 {
					before := seconds(b)
					code := strings.ReplaceAll(c.code, "{}", fmt.Sprint(os.Getpid()*100+i))
					reply, err := k.Execute(b.Context(), code, nil)
					if err != nil || reply.Status != "ok" {
						b.Fatalf("%+v, %v", reply, err)
					}
					spent = append(spent, seconds(b)-before)
				}
				demand.NoError(b, k.Close())
				b.ReportMetric(spent[0], "first-cpu-s")
				rest := spent[1:]
				slices.Sort(rest)
				b.ReportMetric((rest[9]+rest[10])/2, "cpu-s")
				b.ReportMetric(rest[0], "least-cpu-s")
			}
		})
	}
}

// seconds are the processor seconds of the processes of this benchmark, and of their children that have ended.
func seconds(b *testing.B) float64 {
	b.Helper()
	ticks := 0
	for _, pid := range demand.Processes(cellMark, b.Name()) {
		text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if err != nil {
			continue // it has ended, and its parent has its seconds
		}
		name, rest, _ := strings.Cut(string(text), ") ")
		if strings.HasSuffix(name, "(gopls") {
			continue
		}
		for _, field := range strings.Fields(rest)[11:15] {
			n, err := strconv.Atoi(field)
			demand.NoError(b, err)
			ticks += n
		}
	}
	return float64(ticks) / 100
}
