package nbformat

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// goHeader turns the declarations of a cell into a Go file.
const goHeader = "package p\n"

// findGo finds the variables and constants of a Go cell that have a literal value.
func findGo(source string) ([]Parameter, error) {
	fset := token.NewFileSet()
	text := goHeader + blankCommands(source)
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, goError(err)
	}
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset - len(goHeader) }
	var found []Parameter
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR && decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			for i, value := range spec.Values {
				begin, end := offset(value.Pos()), offset(value.End())
				declared := ""
				if spec.Type != nil {
					declared = source[offset(spec.Type.Pos()):offset(spec.Type.End())]
				}
				kind := goType(declared, source[begin:end])
				if kind == "" || i >= len(spec.Names) {
					continue
				}
				found = append(found, Parameter{
					Name: spec.Names[i].Name, Type: kind, Default: source[begin:end],
					Doc: goDoc(decl, spec), begin: begin, end: end,
				})
			}
		}
	}
	return found, nil
}

// notDeclarations matches GoNB's commands, such as !ls or %env, and from %% on the body of main.
var notDeclarations = regexp.MustCompile(`(?m)^(?://gonb:)?(?:[ \t]*%(?:%|main)(?:\s(?s:.*))?\z|[%!].*)`)

// blankCommands replaces what is not a declaration with spaces.
func blankCommands(source string) string {
	return notDeclarations.ReplaceAllStringFunc(source, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// goError is a parser's first error, with the line number in the cell.
func goError(err error) error {
	if all, ok := errors.AsType[scanner.ErrorList](err); ok {
		return fmt.Errorf("line %d: %s", all[0].Pos.Line-1, all[0].Msg)
	}
	return err
}

// goTypes are the types that a parameter may be declared with. Go itself checks the sizes of numbers.
var goTypes = map[string]string{
	"string": "string", "bool": "bool", "float64": "float64", "float32": "float64",
	"int": "int", "int8": "int", "int16": "int", "int32": "int", "int64": "int",
	"uint": "int", "uint8": "int", "uint16": "int", "uint32": "int", "uint64": "int",
}

// goType is a parameter's type: the declared one, or that of its literal. It is empty if the value is not a literal
// or the declared type is not in goTypes.
func goType(declared, literal string) string {
	for _, l := range goLiterals {
		if !l.match.MatchString(literal) {
			continue
		}
		if declared != "" {
			return goTypes[declared]
		}
		return l.kind
	}
	return ""
}

// goLiterals are the forms of literals.
var goLiterals = []struct {
	kind  string
	match *regexp.Regexp
}{
	{"string", regexp.MustCompile("^(\"([^\"\\\\]|\\\\.)*\"|`[^`]*`)$")},
	{"bool", regexp.MustCompile(`^(true|false)$`)},
	{"int", regexp.MustCompile(`^[-+]?([0-9][0-9_]*|0[xXbBoO][0-9a-fA-F_]+)$`)},
	{"float64", regexp.MustCompile(`^[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)},
}

// goDoc is the comment after a declaration on its line, or above it.
func goDoc(decl *ast.GenDecl, spec *ast.ValueSpec) string {
	for _, group := range []*ast.CommentGroup{spec.Comment, spec.Doc} {
		if group != nil {
			return strings.Join(strings.Fields(group.Text()), " ")
		}
	}
	if decl.Doc != nil && len(decl.Specs) == 1 {
		return strings.Join(strings.Fields(decl.Doc.Text()), " ")
	}
	return ""
}

func integer(value string) (string, error) {
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return "", errors.New("is not a whole number")
	}
	return strconv.FormatInt(n, 10), nil
}

func floating(value string) (string, error) {
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
