package jupyter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	colour    = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	place     = regexp.MustCompile(`^Cell(?:\[(\d+)\]:)? Line (\d+)\n`)
	caret     = regexp.MustCompile(`(?m)^ *\^$`)
	stackCell = regexp.MustCompile(`(?m)^\t ?\[\[ Cell \[(\d+)\] Line (\d+) \]\].*$`)
	// Lines about the program that GoNB makes of a cell, which the user did not write.
	noise = regexp.MustCompile(`^(# gonb_|go: gonb_\w+ imports$|failed to run "|parsing go files in |` +
		`exit status \d+$|$)`)
	position = regexp.MustCompile(`^(executing special commands in cell: |\S*main(_test)?\.go:[\d:]+ )`)
)

// explain makes GoNB's error one for the reader of the cell: first the reason, then the place in the cell, and nothing
// of the program that GoNB makes of the cell. The text of a panic becomes a part of the error.
func (r *relay) explain(content failure, e *execution) failure {
	crashed := colour.ReplaceAllString(r.crash.text, "")
	r.crash = crash{}
	var lines []string
	switch {
	case e != nil && e.refused.Load() != nil:
		return *e.refused.Load()
	case e != nil && e.interrupted.Load():
		return failed("Interrupted", "the cell was interrupted")
	case panics.MatchString(crashed):
		crashed = stackCell.ReplaceAllString(crashed, "\tcell [$1], line $2")
		lines = strings.Split(strings.TrimRight(crashed, "\n"), "\n")
	default:
		trace, _ := content["traceback"].([]any)
		for _, item := range trace {
			text, _ := item.(string)
			lines = append(lines, r.reasons(colour.ReplaceAllString(text, ""), e)...)
		}
	}
	if len(lines) > 0 {
		content["evalue"], content["traceback"] = lines[0], lines
	}
	return content
}

// failed is a failure of one line.
func failed(name, text string) failure {
	return failure{"ename": name, "evalue": text, "traceback": []string{text}}
}

// reasons makes lines of an item of GoNB's traceback: lines of text, or the place in a cell, some lines of GoNB's
// program with a caret, and one reason.
func (r *relay) reasons(text string, e *execution) (lines []string) {
	at := place.FindStringSubmatch(text)
	if at == nil && !caret.MatchString(text) {
		for line := range strings.Lines(text) {
			line = position.ReplaceAllString(strings.TrimSpace(line), "")
			if !noise.MatchString(line) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	why := text[strings.LastIndex(text, "\n")+1:]
	if strings.HasPrefix(why, "expected declaration, found ") {
		why += `: statements need a line "%%" above them`
	}
	if at == nil {
		return []string{why + " (at the end of the cell)"} // where GoNB's program continues
	}
	if at[1] != fmt.Sprint(r.count.Load()) || e == nil {
		return []string{fmt.Sprintf("%s (cell [%s], line %s)", why, at[1], at[2])}
	}
	source := strings.Split(e.code, "\n")
	n, _ := strconv.Atoi(at[2])
	n = max(1, min(n, len(source)))
	return []string{fmt.Sprintf("%s (cell [%s], line %d)", why, at[1], n), "    " + strings.TrimSpace(source[n-1])}
}
