package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/data/clear"
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

// clearZip is a miniature of the published features. The layout is that of 2021 without features/.
const clearZip = "../data/clear/testdata/clear10-public.zip"

// changedZip copies the miniature, with an entry replaced, or without it if content is nil.
func changedZip(t *testing.T, entry string, content []byte) string {
	t.Helper()
	r, err := zip.OpenReader(clearZip)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(t.TempDir(), "c.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := zip.NewWriter(f)
	for _, file := range r.File {
		if file.Name != entry {
			err = errors.Join(err, out.Copy(file))
		}
	}
	if content != nil {
		w, createErr := out.Create(entry)
		_, writeErr := w.Write(content)
		err = errors.Join(err, createErr, writeErr)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClear: a download is checked by --from, by TVPS_CLEAR and in the cache, and the output says how to use it.
func TestClear(t *testing.T) {
	s := newSandbox(t)
	code, stdout, stderr := s.run(t, "data", "clear", "--from", clearZip, "--type", "imagenet")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	demandWords(t, stdout, clearZip, "feature type imagenet (there are: imagenet, moco_b0)",
		"0 to 9: baseball, bus,", "buckets 1 to 10\n", "30 images of each class, 4 values",
		"not the published data set, which has 300", "TVPS_CLEAR="+clearZip)

	cache := filepath.Join(s.cache, "clear")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(changedZip(t, "", nil), filepath.Join(cache, "clear10-public.zip")); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = s.run(t, "data", "clear")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	demandWords(t, stdout, filepath.Join(cache, "clear10-public.zip"), "feature type moco_b0",
		"Figures use them as they are")
	s.env = []string{"TVPS_CLEAR=" + clearZip}
	if _, stdout, _ = s.run(t, "data", "clear"); !strings.HasPrefix(stdout, clearZip) {
		t.Errorf("TVPS_CLEAR is not used: %s", stdout)
	}
}

// TestContentsOfClear: what is not used is printed.
func TestContentsOfClear(t *testing.T) {
	lines := contentsOfClear(&clear.Report{Path: "c.zip", Buckets: []int{1, 2, 3}, LeftOut: []int{0}, Test: true,
		Missing: []string{"a.pth", "b.pth"}})
	demandWords(t, strings.Join(lines, "\n"), "part test is not used", "buckets 1 to 3, not used: 0",
		"files missing: 2, first a.pth")
}

// TestClearErrors: a usage error ends with exit code 2, a bad data set with 1 after its contents are printed.
func TestClearErrors(t *testing.T) {
	s := newSandbox(t)
	const entry = "training_folder/features/moco_b0/3/all.pth"
	for _, c := range []struct {
		args   []string
		code   int
		words  []string
		stdout string
	}{
		{[]string{"--type", "moco"}, 2, []string{`"moco"`, "it has imagenet, moco_b0"}, ""},
		{[]string{"--from", ""}, 2, []string{"--from is empty"}, ""},
		{[]string{"now"}, 2, []string{"takes no argument"}, ""},
		{[]string{"--form", "x"}, 2, []string{"--form"}, ""},
		{[]string{"--from", filepath.Join(t.TempDir(), "none")}, 1, []string{"none"}, ""},
		{[]string{"--from", t.TempDir()}, 1, []string{"no features of CLEAR-10"}, ""},
		{[]string{"--from", changedZip(t, entry, nil)}, 1, []string{"has 9 buckets"}, ""},
		{[]string{"--from", changedZip(t, entry, []byte("no zip"))}, 1, []string{"not a file of torch.save", "3/all.pth"},
			"feature type moco_b0"},
	} {
		s.env = []string{"TVPS_CLEAR=" + clearZip}
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
