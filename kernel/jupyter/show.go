package jupyter

import (
	"go/ast"
	"go/parser"
	"regexp"
	"slices"
	"strings"
)

var (
	mainLine   = regexp.MustCompile(`(?m)^(?://gonb:)?%(?:%|main\b)`)
	otherCells = regexp.MustCompile(`(?m)^(?://gonb:)?%(?:%[a-z]|test\b|exec\b|wasm\b)`)
)

// shown is a cell that prints its last line if that is an expression, as in other notebooks. Without types a call could
// be one of a function without a result, so calls stay as they are, except of functions that Go does not let stand
// alone. Every other expression would be an error there.
func shown(code string) string {
	text := strings.TrimRight(code, " \t\n")
	begin := strings.LastIndex(text, "\n") + 1
	last := text[begin:]
	lines := strings.Split(goLines(text), "\n")
	end := len(lines) - 1
	expr, err := parser.ParseExpr(last)
	depth, unfinished, invalid := brackets(strings.Join(lines[:end], "\n") + "\n")
	if err != nil || lines[end] != last || depth > 0 || unfinished || invalid || otherCells.MatchString(code) {
		return code
	}
	if call, ok := expr.(*ast.CallExpr); ok {
		if name, ok := call.Fun.(*ast.Ident); !ok || !slices.Contains([]string{"len", "cap", "min", "max"}, name.Name) {
			return code
		}
	}
	main := ""
	if !mainLine.MatchString(code) {
		main = "%%\n"
	}
	return text[:begin] + main + "fmt.Println(" + last[:expr.End()-1] + ")" + code[len(text):]
}
