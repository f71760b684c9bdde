package demand

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Documents lists the Markdown files below root, without hidden folders and what programs leave behind.
func Documents(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		left := strings.HasPrefix(name, ".") || slices.Contains([]string{"results", "out", "testdata"}, name)
		if entry.IsDir() && path != root && left {
			return filepath.SkipDir
		}
		if !entry.IsDir() && filepath.Ext(name) == ".md" {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

var (
	fence  = regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```")
	shell  = regexp.MustCompile("(?ms)^```(?:sh|bash|console)?\n(.*?)^```")
	inline = regexp.MustCompile("`([^`\n]+)`")
)

// Commands lists the arguments of every call of a program in a text, in inline code and in blocks of shell commands:
// what follows `go run ./replicate`, say, up to the end of the line, a comment or the next command.
func Commands(text, program string) [][]string {
	var code []string
	for _, m := range shell.FindAllStringSubmatch(text, -1) {
		code = append(code, strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")...)
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		code = append(code, m[1])
	}
	start := regexp.MustCompile(`(?:^|[\s;(=])` + regexp.QuoteMeta(program) + `(?:\s+|$)`)
	var out [][]string
	for _, line := range code {
		for {
			at := start.FindStringIndex(line)
			if at == nil {
				break
			}
			line = line[at[1]:]
			out = append(out, arguments(line))
		}
	}
	return out
}

// arguments are the words up to what a shell or a reader takes for the end of a command.
func arguments(line string) []string {
	var out []string
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "#") || word == "&&" || word == "|" || word == ">" || word == ";" {
			break
		}
		last := strings.HasSuffix(word, ";")
		out = append(out, strings.Trim(strings.TrimSuffix(word, ";"), `"'`))
		if last {
			break
		}
	}
	return out
}
