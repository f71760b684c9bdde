package demand

import (
	"fmt"
	"regexp"
	"slices"
)

// Block returns a generated part of a Markdown text. The block NAME stands between the lines
//
//	<!-- NAME:begin -->
//	<!-- NAME:end -->
//
// once each in the text, with nothing else on these lines. Errors: the marks are missing, repeated or in the wrong
// order.
func Block(text []byte, name string) (string, error) {
	begin, end, err := findBlock(text, name)
	return string(text[begin:end]), err
}

// SetBlock returns the text with another block, and every other byte as it was. The new block must be empty or end
// with a line break. Errors are those of [Block].
func SetBlock(text []byte, name, block string) ([]byte, error) {
	begin, end, err := findBlock(text, name)
	return slices.Concat(text[:begin], []byte(block), text[end:]), err
}

// findBlock returns where the block begins and ends, between its marks.
func findBlock(text []byte, name string) (begin, end int, err error) {
	before := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:begin -->\n`).FindAllIndex(text, -1)
	after := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:end -->$`).FindAllIndex(text, -1)
	if len(before) != 1 || len(after) != 1 || after[0][0] < before[0][1] {
		const want = "it must have the lines <!-- %s:begin --> and <!-- %s:end -->, in this order, once each"
		return 0, 0, fmt.Errorf(want, name, name)
	}
	return before[0][1], after[0][0], nil
}
