package nbformat

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// pythonLine matches an assignment of a literal: a name, an optional annotation, the literal and an optional comment.
var pythonLine = regexp.MustCompile(`(?m)^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*` +
	`("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|True|False|\[[^\n]*\]|\{[^\n]*\}|` +
	`[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?)` +
	`[ \t]*(?:#[ \t]*([^\r\n]*))?\r?$`)

// findPython finds the lines of a Python cell that assign a literal to a variable.
func findPython(source string) ([]Parameter, error) {
	var found []Parameter
	for _, m := range pythonLine.FindAllStringSubmatchIndex(source, -1) {
		p := Parameter{Name: source[m[2]:m[3]], Default: source[m[4]:m[5]], begin: m[4], end: m[5]}
		if m[6] >= 0 {
			p.Doc = strings.TrimSpace(source[m[6]:m[7]])
		}
		p.Type = pythonType(p.Default)
		found = append(found, p)
	}
	return found, nil
}

func pythonType(literal string) string {
	switch {
	case literal == "True" || literal == "False":
		return "bool"
	case strings.ContainsAny(literal[:1], `"'`):
		return "str"
	case literal[0] == '[':
		return "list"
	case literal[0] == '{':
		return "dict"
	case strings.ContainsAny(literal, ".eE"):
		return "float"
	}
	return "int"
}

// pythonLiteral writes a value as a Python literal of the given type.
func pythonLiteral(kind, value string) (string, error) {
	switch kind {
	case "str":
		return strconv.Quote(value), nil // Python understands all of Go's escapes
	case "bool":
		return boolean(value, "True", "False")
	case "list", "dict":
		if pythonType(value+" ") != kind {
			return "", errors.New("is not a " + kind + " of Python")
		}
		return value, nil
	case "float":
		return floating(value)
	}
	return integer(value)
}
