package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestRewriteBlock: the block is replaced, every other byte is kept.
func TestRewriteBlock(t *testing.T) {
	const head = "# Title\r\n\r\ntext with `<!-- x:begin -->` in it\nand <!-- x:begin -->\n\n<!-- x:begin -->\n"
	const tail = "<!-- x:end -->\n\n\ttabs, trailing blanks  \n<!-- y:begin -->\nno last line break: \xff"
	path := filepath.Join(t.TempDir(), "README.md")
	for _, old := range []string{"", "old\nof two lines\n", "new\n"} {
		if err := os.WriteFile(path, []byte(head+old+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckBlock(path, "x"); err != nil {
			t.Fatal(err)
		}
		if err := RewriteBlock(path, "x", "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != head+"new\n"+tail {
			t.Errorf("over %q: %q, %v", old, got, err)
		}
		if block, err := Block(got, "x"); err != nil || block != "new\n" {
			t.Errorf("the block is %q, %v", block, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its permissions became %v, %v", info.Mode(), err)
	}
}

// TestMarksAreChecked: a file without both marks, once each and in order, stays unchanged.
func TestMarksAreChecked(t *testing.T) {
	const begin, end = "<!-- x:begin -->\n", "<!-- x:end -->\n"
	for name, text := range map[string]string{
		"no marks": "text\n", "no end": begin, "no begin": end, "reversed": end + begin,
		"twice":         strings.Repeat(begin+end, 2),
		"within a line": "see " + begin + "and " + end, "another block": "<!-- xx:begin -->\n<!-- xx:end -->\n",
	} {
		path := filepath.Join(t.TempDir(), "README.md")
		demand.Write(t, path, text)
		demand.Error(t, CheckBlock(path, "x"), path, "<!-- x:begin -->", "<!-- x:end -->", "once each")
		demand.Error(t, RewriteBlock(path, "x", "new\n"), path, "once each")
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file became %q, %v", name, got, err)
		}
	}
	demand.Error(t, CheckBlock(filepath.Join(t.TempDir(), "none.md"), "x"), "none.md")
}
