package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
)

// TestInstalledKernel uses the kernel that `kernel install --prefix` installed for this checkout, as Jupyter does: a
// name is completed and explained, for this module, too, a console's requests are answered, and nothing is left.
func TestInstalledKernel(t *testing.T) {
	prefix := os.Getenv("TVPS_TEST_PREFIX")
	if prefix == "" {
		t.Skip("TVPS_TEST_PREFIX is not set: the installed kernel is not tested")
	}
	l, err := NewLayout(checkout(t), prefix)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := readSpec(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.program(gopls)); err != nil {
		t.Skip("gopls was not installed:", err)
	}
	marker := "test " + t.TempDir()
	k, err := jupyter.Start(t.Context(), spec, jupyter.Options{
		Dir: filepath.Join(l.Root, "notebooks"), Env: []string{"FAKE_TEST=" + marker},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	const imports = "import \"strings\"\nimport \"tvps/replicate/notebook\"\n\n%%\n"
	for before, want := range map[string]string{"strings.Rep": "Repeat", "notebook.Fig": "Figure"} {
		var reply struct{ Matches []string }
		for end := time.Now().Add(5 * time.Minute); !slices.Contains(reply.Matches, want); { // gopls loads the module first
			content := map[string]any{"code": imports + before, "cursor_pos": len(imports + before)}
			if err := k.Ask(t.Context(), "complete_request", content, &reply); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(end) {
				t.Fatalf("%s is completed by %q, want %s", before, reply.Matches, want)
			}
		}
	}
	var about struct{ Data map[string]string }
	code := imports + "_ = strings.Repeat(\"a\", 3)\n_ = notebook.Must"
	request := map[string]any{"code": code, "cursor_pos": strings.Index(code, "Repeat"), "detail_level": 0}
	const signature = "func strings.Repeat(s string, count int) string"
	for end := time.Now().Add(5 * time.Minute); !strings.Contains(about.Data["text/markdown"], signature); {
		if err := k.Ask(t.Context(), "inspect_request", request, &about); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("about strings.Repeat: %v", about)
		}
	}
	var complete struct{ Status string }
	if err := k.Ask(t.Context(), "is_complete_request", map[string]string{"code": "for {"}, &complete); err != nil ||
		complete.Status != "incomplete" {
		t.Errorf("a block is %+v, %v", complete, err)
	}
	if n := len(demand.Processes("FAKE_TEST", marker)); n < 3 {
		t.Errorf("only %d processes: the relay, gonb and gopls should run", n)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	demand.Soon(t, "the end of all processes", func() bool { return len(demand.Processes("FAKE_TEST", marker)) == 0 })
}
