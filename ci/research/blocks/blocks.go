// Package blocks reads and rewrites generated parts of Markdown files. A block NAME stands between the lines
//
//	<!-- NAME:begin -->
//	<!-- NAME:end -->
//
// once each in a file, with nothing else on these lines. All bytes outside of it stay unchanged.
package blocks

import (
	"fmt"
	"os"
	"regexp"
	"slices"

	"tvps/data/artifact"
)

// Of returns the block of that name in a text. Errors: the marks are missing, repeated or in the wrong order.
func Of(text []byte, name string) (string, error) {
	begin, end, err := findBlock(text, name)
	return string(text[begin:end]), err
}

// Rewrite replaces the block in a file atomically. The new block must be empty or end with a line break. The file
// keeps its permissions.
func Rewrite(path, name, block string) error {
	text, begin, end, err := readBlock(path, name)
	if err != nil {
		return err
	}
	if err := artifact.Replace(path, slices.Concat(text[:begin], []byte(block), text[end:]), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// Check returns an error if a file cannot be read or lacks the block.
func Check(path, name string) error {
	_, _, _, err := readBlock(path, name)
	return err
}

// readBlock returns a file's text and where the block begins and ends in it.
func readBlock(path, name string) (text []byte, begin, end int, err error) {
	if text, err = os.ReadFile(path); err != nil {
		return nil, 0, 0, err
	}
	if begin, end, err = findBlock(text, name); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return text, begin, end, err
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
