package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestClearNone: without data the command says where to get them and succeeds.
func TestClearNone(t *testing.T) {
	s := newSandbox(t)
	stdout := s.quiet(t, "data", "clear")
	demand.Words(t, stdout, "stand-in", "feature archives of the CLEAR authors", filepath.Join(s.cache, "clear"))
}

// clearZip is a miniature of the published features. The layout is that of 2021.
const clearZip = "../data/clear/testdata/clear10-public.zip"

// TestClear: a download is checked by --from, by TVPS_CLEAR and in the cache, and the output says how to use it.
func TestClear(t *testing.T) {
	s := newSandbox(t)
	stdout := s.quiet(t, "data", "clear", "--from", clearZip)
	demand.Words(t, stdout, clearZip, "moco_b0 features", "buckets 1 to 10", "300 images, 4 values",
		"not the published data set, which has 300", "TVPS_CLEAR="+clearZip)

	cached := filepath.Join(s.cache, "clear", "clear10-public.zip")
	demand.Write(t, cached, demand.Read(t, clearZip))
	stdout = s.quiet(t, "data", "clear")
	demand.Words(t, stdout, cached, "moco_b0 features", "Figures use them as they are")
	s.env = []string{"TVPS_CLEAR=" + clearZip}
	if stdout = s.quiet(t, "data", "clear"); !strings.HasPrefix(stdout, clearZip) {
		t.Errorf("TVPS_CLEAR is not used: %s", stdout)
	}
}

// TestClearErrors: a usage error ends with exit code 2, a bad data set with 1.
func TestClearErrors(t *testing.T) {
	s, incomplete := newSandbox(t), t.TempDir()
	const entry = "features/moco_b0/3/bus.pth"
	whole, err := zip.OpenReader(clearZip)
	demand.NoError(t, err)
	defer whole.Close()
	demand.NoError(t, errors.Join(os.CopyFS(incomplete, whole), os.Remove(filepath.Join(incomplete, entry))))
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"--from", ""}, 2, []string{"--from is empty"}},
		{[]string{"--from", filepath.Join(t.TempDir(), "none")}, 1, []string{"none"}},
		{[]string{"--from", incomplete}, 1, []string{entry, "get the archive again"}},
	} {
		s.env = []string{"TVPS_CLEAR=" + clearZip}
		s.refuse(t, c.code, append([]string{"data", "clear"}, c.args...), c.words...)
	}
	s.env = []string{"TVPS_CLEAR=" + filepath.Join(t.TempDir(), "none")}
	s.refuse(t, 1, []string{"data", "clear"}, "TVPS_CLEAR")
}
