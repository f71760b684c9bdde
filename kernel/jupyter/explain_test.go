package jupyter

import (
	"strings"
	"testing"

	"tvps/ci/demand"
)

// The reason of an error comes first, then its place in the cell, and nothing of GoNB's program.
func TestExplain(t *testing.T) {
	r := &relay{}
	r.count.Store(2)
	e := &execution{code: "%%\nvar x int = \"a\"\nfmt.Println(x, y)"}
	const hint = `: statements need a line "%%" above them`
	for text, want := range map[string]string{
		"Cell[2]: Line 2\n\nfunc main() {\n\tflag.Parse()\nvar x int = \"a\"\n    ^\n\n\x1b[31mcannot use\x1b[0m": "" +
			"cannot use (cell [2], line 2)\n    var x int = \"a\"",
		"Cell[1]: Line 4\nfunc f() {\n^\n\nundefined: z":           "undefined: z (cell [1], line 4)",
		"Cell[2]: Line 9\ny\n^\n\nundefined: y":                    "undefined: y (cell [2], line 3)\n    fmt.Println(x, y)",
		"\tflag.Parse()\nfmt.Println(\n\n}\n^\n\nexpected operand": "expected operand (at the end of the cell)",
		"Cell[2]: Line 1\n%%\n^\n\nexpected declaration, found f": "expected declaration, found f" + hint +
			" (cell [2], line 1)\n    %%",
		"failed to run \"go get\": exit status 1|go: gonb_12 imports|\tno/pkg: package no/pkg is not in std": "" +
			"no/pkg: package no/pkg is not in std",
		"/tmp/gonb_12/main.go:3:1: missing ','|exit status 2":            "missing ','",
		"executing special commands in cell: `%cd \"/no\"` failed: no\n": "`%cd \"/no\"` failed: no",
		"exit status 3": "exit status 3",
	} {
		var trace []any
		for item := range strings.SplitSeq(text, "|") {
			trace = append(trace, item)
		}
		got := r.explain(failure{"evalue": text, "traceback": trace}, e)
		if text == "exit status 3" && got["evalue"] == text {
			continue // nothing else is known
		}
		lines := strings.Split(want, "\n")
		demand.Diff(t, got, failure{"evalue": lines[0], "traceback": lines}, "%q", text)
	}
	r.crash.text = "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n" +
		"\t \x1b[7m[[ Cell [2] Line 3 ]]\x1b[0m /tmp/gonb_1/main.go:14 +0x65\n"
	got := r.explain(failure{"evalue": "exit status 2"}, e)
	want := failure{"evalue": "panic: x", "traceback": []string{"panic: x", "", "goroutine 1 [running]:", "main.main()",
		"\tcell [2], line 3"}}
	demand.Diff(t, got, want, "a panic")
}
