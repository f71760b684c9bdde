package backend

import (
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/gomlx/gomlx/core/graph"
)

func double(x *graph.Node) *graph.Node { return graph.Add(x, x) }

func TestOpenGo(t *testing.T) {
	b, err := Open(t.Context(), Go, Options{})
	demand.NoError(t, err)
	if b.Info.Name != Go || b.Info.Platform != "cpu" || b.Info.PluginPath != "" {
		t.Errorf("%+v", b.Info)
	}
	y, err := graph.CallOnce(b.Backend, double, []float32{1, 2})
	if err != nil || y.Value().([]float32)[1] != 4 {
		t.Errorf("%v, %v", y, err)
	}
	another, err := b.NewClient(0)
	if err != nil || b.SerialExecution() || another.Info != b.Info || another.Backend == b.Backend {
		t.Errorf("another client: %v, serial %v", err, b.SerialExecution())
	}
	if err := b.Finalize(); err != nil || !b.IsFinalized() {
		t.Errorf("Finalize: %v", err)
	}
}

func TestUnknownName(t *testing.T) {
	_, err := Open(t.Context(), "cuda", Options{CacheDir: t.TempDir()})
	demand.Error(t, err, "xla:cuda")
}

func TestNoPlugin(t *testing.T) {
	if XLABuilt {
		t.Skip("this binary has XLA")
	}
	for _, name := range []string{XLACPU, XLACUDA} {
		_, err := Open(t.Context(), name, Options{CacheDir: t.TempDir()})
		demand.Error(t, err, "noxla")
	}
	var log strings.Builder
	b, err := Open(t.Context(), Default, Options{CacheDir: t.TempDir(), Log: &log})
	if err != nil || b.Info.Name != Go || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%v, %q", err, log.String())
	}
}

func TestPanicBecomesError(t *testing.T) {
	f := func() (err error) {
		defer recoverTo(&err, "a test")
		panic("two\nlines")
	}
	if err := f(); err == nil || err.Error() != "a test failed: two lines" {
		t.Errorf("%v", err)
	}
}

func TestDiagnose(t *testing.T) {
	t.Setenv("TVPS_CACHE", t.TempDir())
	got := map[string]Check{}
	for _, c := range Diagnose(t.Context(), Go) {
		got[c.Name] = c
		if c.Status != OK && c.Fix == "" {
			t.Errorf("%+v has no Fix", c)
		}
	}
	for _, name := range []string{"go", "backend", "gpu", "cache"} {
		if got[name].Status != OK {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	if c := Diagnose(t.Context(), "nonsense")[1]; c.Status != Fail || !strings.Contains(c.Detail, "unknown backend") {
		t.Errorf("%+v", c)
	}
	t.Setenv("TVPS_CACHE", "/dev/null/x")
	if c := checkCache(); c.Status != Fail || c.Fix == "" {
		t.Errorf("%+v", c)
	}
}

func TestPrintChecks(t *testing.T) {
	var out strings.Builder
	failed, err := PrintChecks(&out, []Check{
		{Name: "a", Status: OK, Detail: "fine", Fix: "not shown"},
		{Name: "long", Status: Fail, Detail: "bad", Fix: "repair it"},
		{Name: "b", Status: Warn, Detail: "odd"},
	})
	want := "ok    a     fine\nfail  long  bad\n            -> repair it\nwarn  b     odd\n"
	if out.String() != want || failed != 1 || err != nil {
		t.Errorf("%d failed, %v, printed\n%s\nwant\n%s", failed, err, out.String(), want)
	}
}
