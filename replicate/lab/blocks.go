package lab

import (
	"bytes"
	"fmt"
	"os"
	"regexp"

	"tvps/data/artifact"
)

// A block NAME is a generated part of a Markdown file. It stands between the lines
//
//	<!-- NAME:begin -->
//	<!-- NAME:end -->
//
// once each in a file, with nothing else on these lines. All bytes outside of it stay unchanged.

// Block returns the block of that name. Errors: the marks are missing, repeated or in the wrong order.
func Block(text []byte, name string) (string, error) {
	before, after, err := splitAtBlock(text, name)
	if err != nil {
		return "", err
	}
	return string(text[len(before) : len(text)-len(after)]), nil
}

// replaceBlock returns the text with the block of that name replaced. The new block must be empty or end with a line
// break. Errors are those of Block.
func replaceBlock(text []byte, name, block string) ([]byte, error) {
	before, after, err := splitAtBlock(text, name)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{before, []byte(block), after}, nil), nil
}

// RewriteBlock replaces the block in a file atomically. The file keeps its permissions.
func RewriteBlock(path, name, block string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if text, err = replaceBlock(text, name, block); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := artifact.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// CheckBlock returns an error if a file cannot be read or lacks the block.
func CheckBlock(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := Block(text, name); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// splitAtBlock returns the text before and after the block, with the marks.
func splitAtBlock(text []byte, name string) (before, after []byte, err error) {
	begin := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:begin -->\n`).FindAllIndex(text, -1)
	end := regexp.MustCompile(`(?m)^<!-- `+regexp.QuoteMeta(name)+`:end -->$`).FindAllIndex(text, -1)
	if len(begin) != 1 || len(end) != 1 || end[0][0] < begin[0][1] {
		const want = "it must have the lines <!-- %s:begin --> and <!-- %s:end -->, in this order, once each"
		return nil, nil, fmt.Errorf(want, name, name)
	}
	return text[:begin[0][1]], text[end[0][0]:], nil
}
