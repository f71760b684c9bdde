package nbformat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// ParametersTag marks the cells whose declarations are the notebook's parameters.
const ParametersTag = "parameters"

// ErrParameter is what errors are if a parameter was asked for that there is not, or with a
// value that it cannot have.
var ErrParameter = errors.New("no such parameter")

// parameterErrorText is an ErrParameter in other words.
type parameterErrorText string

func (e parameterErrorText) Error() string        { return string(e) }
func (e parameterErrorText) Is(target error) bool { return target == ErrParameter }

func parameterError(format string, args ...any) error {
	return parameterErrorText(fmt.Sprintf(format, args...))
}

// Parameter is a declaration with a literal value in a cell with the tag parameters.
type Parameter struct {
	Name    string
	Type    string // string, bool, duration, or a numeric type of the language
	Default string // as it stands in the cell
	Doc     string // the comment beside or above it

	cell       *Cell
	begin, end int // of the literal in the cell's source
}

// String describes the parameter in a list.
func (p Parameter) String() string {
	s := fmt.Sprintf("%s (%s, default %s)", p.Name, p.Type, p.Default)
	if p.Doc != "" {
		s += ": " + p.Doc
	}
	return s
}

// dialect is what differs from language to language.
type dialect struct {
	find    func(source string) ([]Parameter, error)
	literal func(kind, value string) (string, error) // the value in the language's notation
}

// dialects by the language that a notebook names.
var dialects = map[string]dialect{
	"go":     {findGo, goLiteral},
	"python": {findPython, pythonLiteral},
}

// Parameters lists the parameters of a notebook in the order of their declaration.
func (nb *Notebook) Parameters() ([]Parameter, error) {
	var all []Parameter
	for i, c := range nb.Cells {
		if c.Type != Code || !c.HasTag(ParametersTag) {
			continue
		}
		d, ok := dialects[nb.Language()]
		if !ok {
			return nil, fmt.Errorf("has a cell with parameters (cell %d), but parameters of the language %q are not known here", i+1, nb.Language())
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

// SetParameters writes values into the declarations of the parameters, in place of those
// that stand there, and records them in the notebook's metadata. Errors continue a sentence
// that begins with the notebook's name.
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
	for _, p := range slices.Backward(all) { // from the end, so that the places before stay
		value, ok := values[p.Name]
		if !ok {
			continue
		}
		literal, err := dialects[nb.Language()].literal(p.Type, value)
		if err != nil {
			return parameterError("has a parameter %q of type %s, and %q %s. Its parameters:\n%s", p.Name, p.Type, value, err, list(all))
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

// known refuses names that are no parameters.
func known(values map[string]string, all []Parameter) error {
	for name := range values {
		if slices.ContainsFunc(all, func(p Parameter) bool { return p.Name == name }) {
			continue
		}
		if len(all) == 0 {
			return parameterError("has no parameter %q: there is no cell with the tag %q that declares any", name, ParametersTag)
		}
		nearest := slices.MinFunc(all, func(a, b Parameter) int {
			return levenshtein.Distance(name, a.Name, nil) - levenshtein.Distance(name, b.Name, nil)
		})
		return parameterError("has no parameter %q; did you mean %q? Its parameters:\n%s", name, nearest.Name, list(all))
	}
	return nil
}

// list is one line for each parameter.
func list(all []Parameter) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = "  " + p.String()
	}
	return strings.Join(lines, "\n")
}
