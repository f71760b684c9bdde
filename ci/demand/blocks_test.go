package demand

import (
	"strings"
	"testing"
)

// TestBlocks: the block is replaced, every other byte is kept. A text must have both marks, once each and in order.
func TestBlocks(t *testing.T) {
	const head = "# Title\r\n\r\ntext with `<!-- x:begin -->` in it\nand <!-- x:begin -->\n\n<!-- x:begin -->\n"
	const tail = "<!-- x:end -->\n\n\ttabs, trailing blanks  \n<!-- y:begin -->\nno last line break: \xff"
	for _, old := range []string{"", "old\nof two lines\n", "new\n"} {
		got, err := SetBlock([]byte(head+old+tail), "x", "new\n")
		NoError(t, err)
		if block, err := Block(got, "x"); string(got) != head+"new\n"+tail || block != "new\n" || err != nil {
			t.Errorf("over %q: %q, block %q, %v", old, got, block, err)
		}
	}
	const begin, end = "<!-- x:begin -->\n", "<!-- x:end -->\n"
	for _, text := range []string{"text\n", begin, end, end + begin, strings.Repeat(begin+end, 2),
		"see " + begin + "and " + end, "<!-- xx:begin -->\n<!-- xx:end -->\n"} {
		_, err := SetBlock([]byte(text), "x", "new\n")
		Error(t, err, "<!-- x:begin -->", "<!-- x:end -->", "once each")
	}
}
