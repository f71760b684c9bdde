package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/data/clear/cleartest"
)

// TestClearNone: without data the command says where to get them and succeeds.
func TestClearNone(t *testing.T) {
	s := newSandbox(t)
	code, stdout, stderr := s.run(t, "data", "clear")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "stand-in") ||
		!strings.Contains(stdout, "feature archives of the CLEAR authors") ||
		!strings.Contains(stdout, filepath.Join(s.cache, "clear")) {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
}

// demandWords fails the test unless a text contains all words.
func demandWords(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
}

// TestClear: a download is checked by --from, by TVPS_CLEAR and in the cache, and the output says how to use it.
func TestClear(t *testing.T) {
	s := newSandbox(t)
	m := cleartest.Default()
	zipped := m.Public().Zip(t, "clear10-public.zip", "")
	code, stdout, stderr := s.run(t, "data", "clear", "--from", zipped, "--type", "imagenet")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	demandWords(t, stdout, zipped+", layout clear10-public", "feature type imagenet (there are: imagenet, moco_b0)",
		"0 to 9: baseball, bus,", "buckets 1 to 10\n", "30 images of each class, 4 values",
		"not the published data set, which has 300", "TVPS_CLEAR="+zipped)

	cache := filepath.Join(s.cache, "clear")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(zipped, filepath.Join(cache, "clear10-public.zip")); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = s.run(t, "data", "clear")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	demandWords(t, stdout, filepath.Join(cache, "clear10-public.zip"), "feature type moco_b0",
		"Figures use them as they are")

	m.Types = []string{"moco_b0"}
	parts := m.Parts()
	parts["train/features/moco_b0/other.pth"] = nil
	delete(parts, "train/class_names.txt")
	s.env = []string{"TVPS_CLEAR=" + parts.Zip(t, "c.zip", "")}
	code, stdout, stderr = s.run(t, "data", "clear")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	demandWords(t, stdout, "layout clear10\n", "(sorted: there is no class_names.txt)", "part test is not used",
		"features.json does not name, not used: 1, first train/features/moco_b0/other.pth")
}

// TestClearErrors: a usage error ends with exit code 2, a bad data set with 1 after its contents are printed.
func TestClearErrors(t *testing.T) {
	s := newSandbox(t)
	m := cleartest.Default()
	m.Types = []string{"moco_b0"}
	files := m.Features("")
	good := files.Zip(t, "c.zip", "")
	delete(files, "features/moco_b0/3/bus.pth")
	lacking := files.Zip(t, "c.zip", "")
	files["features/moco_b0/3/bus.pth"] = cleartest.Archive([]byte("cos\nsystem\n."))
	malicious := files.Zip(t, "c.zip", "")
	for _, c := range []struct {
		args   []string
		code   int
		words  []string
		stdout string
	}{
		{[]string{"--type", "moco"}, 2, []string{`"moco"`, "it has moco_b0"}, ""},
		{[]string{"--from", ""}, 2, []string{"--from is empty"}, ""},
		{[]string{"now"}, 2, []string{"takes no argument"}, ""},
		{[]string{"--form", "x"}, 2, []string{"--form"}, ""},
		{[]string{"--from", filepath.Join(t.TempDir(), "none")}, 1, []string{"none"}, ""},
		{[]string{"--from", t.TempDir()}, 1, []string{"no features of CLEAR-10"}, ""},
		{[]string{"--from", lacking}, 1, []string{"is incomplete", "bus.pth"},
			"files missing: 1, first features/moco_b0/3/bus.pth"},
		{[]string{"--from", malicious}, 1, []string{"global os.system", "bus.pth"}, "layout clear10-public"},
	} {
		s.env = []string{"TVPS_CLEAR=" + good}
		code, stdout, stderr := s.run(t, append([]string{"data", "clear"}, c.args...)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || c.stdout == "" && stdout != "" ||
			strings.Contains(stdout, "are valid") {
			t.Errorf("%q: exit code %d, want %d; stdout %q", c.args, code, c.code, stdout)
		}
		oneSentence(t, stderr, c.words...)
	}
	s.env = []string{"TVPS_CLEAR=" + filepath.Join(t.TempDir(), "none")}
	code, _, stderr := s.run(t, "data", "clear")
	if code != 1 {
		t.Errorf("exit code %d for a TVPS_CLEAR that does not exist", code)
	}
	oneSentence(t, stderr, "TVPS_CLEAR")
}
