// Package blocks replaces the generated parts of Markdown files. A block NAME stands between the lines
//
//	<!-- NAME:begin -->
//	<!-- NAME:end -->
//
// once each in a file, with nothing else on these lines. All bytes outside of it stay unchanged.
package blocks

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"tvps/data/artifact"
)

// Get returns the block of that name. Errors: the marks are missing, repeated or in the wrong order.
func Get(text []byte, name string) (string, error) {
	before, after, err := split(text, name)
	if err != nil {
		return "", err
	}
	return string(text[len(before) : len(text)-len(after)]), nil
}

// Replace returns the text with the block of that name replaced. The new block must be empty or end with a line break.
// Errors are those of Get.
func Replace(text []byte, name, block string) ([]byte, error) {
	before, after, err := split(text, name)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{before, []byte(block), after}, nil), nil
}

// Rewrite replaces the block in a file atomically. The file keeps its permissions.
func Rewrite(path, name, block string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if text, err = Replace(text, name, block); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := artifact.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// Check returns an error if a file cannot be read or lacks the block.
func Check(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := Get(text, name); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// split returns the text before and after the block, with the marks.
func split(text []byte, name string) (before, after []byte, err error) {
	begin := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:begin -->\n`).FindAllIndex(text, -1)
	end := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:end -->$`).FindAllIndex(text, -1)
	if len(begin) != 1 || len(end) != 1 || end[0][0] < begin[0][1] {
		const want = "it must have the lines <!-- %s:begin --> and <!-- %s:end -->, in this order, once each"
		return nil, nil, fmt.Errorf(want, name, name)
	}
	return text[:begin[0][1]], text[end[0][0]:], nil
}
