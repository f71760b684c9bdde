package nbformat

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tvps/replicate/usage"
)

// parametersTag marks the cells whose declarations are the notebook's parameters.
const parametersTag = "parameters"

// Parameter is a declaration with a literal value in a cell with the tag parameters.
type Parameter struct {
	Name    string
	Type    string // string, bool, or a numeric type of the language
	Default string // the literal in the cell
	Doc     string // the comment after or above it

	cell       *Cell
	begin, end int // of the literal in the cell's source
}

func (p Parameter) String() string {
	s := fmt.Sprintf("%s (%s, default %s)", p.Name, p.Type, p.Default)
	if p.Doc != "" {
		s += ": " + p.Doc
	}
	return s
}

// dialect holds what is specific to a programming language.
type dialect struct {
	find    func(source string) ([]Parameter, error)
	yes, no string
}

// dialects maps a notebook's language to its dialect.
var dialects = map[string]dialect{
	"go":     {findGo, "true", "false"},
	"python": {findPython, "True", "False"},
}

// literal writes a value as a literal of the given type.
func (d dialect) literal(kind, value string) (string, error) {
	switch kind {
	case "string", "str":
		return strconv.Quote(value), nil // Python understands all of Go's escapes
	case "bool":
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return "", errors.New("is neither true nor false")
		}
		if b {
			return d.yes, nil
		}
		return d.no, nil
	case "float", "float64":
		return floating(value)
	}
	return integer(value)
}

// Parameters lists the parameters of a notebook in the order of their declaration.
func (nb *Notebook) Parameters() ([]Parameter, error) {
	var all []Parameter
	for i, c := range nb.Cells {
		if c.Type != Code || !c.HasTag(parametersTag) {
			continue
		}
		d, ok := dialects[nb.Language()]
		if !ok {
			return nil, fmt.Errorf("has a cell with parameters (cell %d), but parameters of the language %q "+
				"are not supported", i+1, nb.Language())
		}
		found, err := d.find(c.Source)
		if err != nil {
			return nil, fmt.Errorf("has a cell with parameters (cell %d) that cannot be read: %w", i+1, err)
		}
		for _, p := range found {
			p.cell = c
			all = append(all, p)
		}
	}
	return all, nil
}

// SetParameters replaces the literals in the declarations of the parameters, and records the values in the notebook's
// metadata. Its errors continue a sentence that begins with the notebook's name; an unknown parameter, or a value that
// a parameter cannot have, is a usage error. After an error some literals may already be replaced, so the notebook
// should not be used.
func (nb *Notebook) SetParameters(values map[string]string) error {
	if len(values) == 0 {
		return nil
	}
	all, err := nb.Parameters()
	if err != nil {
		return err
	}
	if err := known(values, all); err != nil {
		return err
	}
	for _, p := range slices.Backward(all) { // from the end: earlier positions stay valid
		value, ok := values[p.Name]
		if !ok {
			continue
		}
		literal, err := dialects[nb.Language()].literal(p.Type, value)
		if err != nil {
			return usage.Errorf("has a parameter %q of type %s, but %q %s. Its parameters:\n%s",
				p.Name, p.Type, value, err, list(all))
		}
		p.cell.Source = p.cell.Source[:p.begin] + literal + p.cell.Source[p.end:]
	}
	set := map[string]any{}
	for name, value := range values {
		set[name] = value
	}
	nb.Metadata[Record] = map[string]any{"parameters": set}
	return nil
}

func known(values map[string]string, all []Parameter) error {
	for name := range values {
		if slices.ContainsFunc(all, func(p Parameter) bool { return p.Name == name }) {
			continue
		}
		if len(all) == 0 {
			return usage.Errorf("has no parameter %q: there is no cell with the tag %q that declares one",
				name, parametersTag)
		}
		return usage.Errorf("has no parameter %q; its parameters:\n%s", name, list(all))
	}
	return nil
}

func list(all []Parameter) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = "  " + p.String()
	}
	return strings.Join(lines, "\n")
}

// pythonLine matches an assignment of a literal: a name, an optional annotation, the literal and an optional comment.
var pythonLine = regexp.MustCompile(`(?m)^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*` +
	`("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|True|False|` +
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
	case strings.ContainsAny(literal, ".eE"):
		return "float"
	}
	return "int"
}
