package blocks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestRewrite: the block is replaced, every other byte is kept. A file without both marks, once each and in
// order, stays unchanged.
func TestRewrite(t *testing.T) {
	const head = "# Title\r\n\r\ntext with `<!-- x:begin -->` in it\nand <!-- x:begin -->\n\n<!-- x:begin -->\n"
	const tail = "<!-- x:end -->\n\n\ttabs, trailing blanks  \n<!-- y:begin -->\nno last line break: \xff"
	path := filepath.Join(t.TempDir(), "README.md")
	for _, old := range []string{"", "old\nof two lines\n", "new\n"} {
		demand.Write(t, path, head+old+tail)
		demand.NoError(t, Rewrite(path, "x", "new\n"))
		got := demand.Read(t, path)
		if block, err := Of(got, "x"); string(got) != head+"new\n"+tail || block != "new\n" || err != nil {
			t.Errorf("over %q: %q, block %q, %v", old, got, block, err)
		}
	}
	const begin, end = "<!-- x:begin -->\n", "<!-- x:end -->\n"
	for name, text := range map[string]string{
		"no marks": "text\n", "no end": begin, "no begin": end, "reversed": end + begin,
		"twice":         strings.Repeat(begin+end, 2),
		"within a line": "see " + begin + "and " + end, "another block": "<!-- xx:begin -->\n<!-- xx:end -->\n",
	} {
		demand.Write(t, path, text)
		demand.Error(t, Check(path, "x"), path, "<!-- x:begin -->", "<!-- x:end -->", "once each")
		demand.Error(t, Rewrite(path, "x", "new\n"), path, "once each")
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file became %q, %v", name, got, err)
		}
	}
}
