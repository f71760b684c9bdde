package nbformat

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
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
				kind := goType(declared, value)
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

// goType is a parameter's type: the declared one, or that of its literal. It is empty if the value is not a literal or
// another type is declared. Go itself checks the sizes of numbers.
func goType(declared string, value ast.Expr) string {
	kind := ""
	if sign, ok := value.(*ast.UnaryExpr); ok && (sign.Op == token.ADD || sign.Op == token.SUB) {
		value = sign.X
	}
	switch value := value.(type) {
	case *ast.BasicLit:
		kind = map[token.Token]string{token.STRING: "string", token.INT: "int", token.FLOAT: "float64"}[value.Kind]
	case *ast.Ident:
		if value.Name == "true" || value.Name == "false" {
			kind = "bool"
		}
	}
	switch {
	case kind == "" || declared == "":
		return kind
	case strings.HasPrefix(declared, "float"):
		return "float64"
	case strings.HasPrefix(declared, "int") || strings.HasPrefix(declared, "uint"):
		return "int"
	case declared == "string" || declared == "bool":
		return declared
	}
	return ""
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
