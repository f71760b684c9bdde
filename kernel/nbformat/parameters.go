package nbformat

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tvps/replicate/usage"
)

// parametersTag marks the cells whose declarations are the notebook's parameters.
const parametersTag = "parameters"

// Parameter is a declaration of Go with a literal value in a cell with the tag parameters.
type Parameter struct {
	Name    string
	Type    string // string, bool, int or float64
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

// Parameters lists the parameters of a notebook in Go in the order of their declaration. Other notebooks have none:
// papermill sets those of Python.
func (nb *Notebook) Parameters() ([]Parameter, error) {
	var all []Parameter
	for i, c := range nb.Cells {
		if c.Type != Code || !c.HasTag(parametersTag) || nb.Language() != "go" {
			continue
		}
		found, err := findGo(c.Source)
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

// SetParameters replaces the literals in the declarations of the parameters. Its errors continue a sentence that begins
// with the notebook's name; an unknown parameter, or a value that a parameter cannot have, is a usage error. After an
// error some literals may already be replaced, so the notebook should not be used.
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
		literal, err := literal(p.Type, value)
		if err != nil {
			return usage.Errorf("has a parameter %q of type %s, but %q %s. Its parameters:\n%s",
				p.Name, p.Type, value, err, list(all))
		}
		p.cell.Source = p.cell.Source[:p.begin] + literal + p.cell.Source[p.end:]
	}
	return nil
}

func known(values map[string]string, all []Parameter) error {
	for name := range values {
		if slices.ContainsFunc(all, func(p Parameter) bool { return p.Name == name }) {
			continue
		}
		if len(all) == 0 {
			return usage.Errorf("has no parameter %q: there is no cell of Go with the tag %q that declares one",
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

// literal writes a value as a literal of the given type.
func literal(kind, value string) (string, error) {
	switch kind {
	case "string":
		return strconv.Quote(value), nil
	case "bool":
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return "", errors.New("is neither true nor false")
		}
		return strconv.FormatBool(b), nil
	case "float64":
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "", errors.New("is not a finite number")
		}
		s := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s, nil
	}
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return "", errors.New("is not a whole number")
	}
	return strconv.FormatInt(n, 10), nil
}
