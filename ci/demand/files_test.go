package demand_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestFilesPointOneWay: in these packages no two files need each other, directly or through others, for a function, a
// method, a type, a constant or a variable.
func TestFilesPointOneWay(t *testing.T) {
	for _, folder := range []string{"replicate/tables", "replicate/tables/drift", "replicate/tables/backtest",
		"replicate/tables/weights", "ci/research", "ci/research/natural", "ci/research/rules"} {
		needs := fileNeeds(t, filepath.Join(root, folder))
		var reaches func(from, to string, seen map[string]bool) bool
		reaches = func(from, to string, seen map[string]bool) bool {
			for next := range needs[from] {
				if next == to || !seen[next] {
					seen[next] = true
					if next == to || reaches(next, to, seen) {
						return true
					}
				}
			}
			return false
		}
		for file, needed := range needs {
			for other, name := range needed {
				if reaches(other, file, map[string]bool{}) {
					t.Errorf("%s: %s needs %s of %s, which needs %s", folder, file, name, other, file)
				}
			}
		}
	}
}

// fileNeeds has, by file of a package, the other files that it needs, with something that each of them declares.
func fileNeeds(t *testing.T, folder string) map[string]map[string]string {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no files: %v", folder, err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		demand.NoError(t, err)
		files = append(files, f)
	}
	at := func(p token.Pos) string { return filepath.Base(set.Position(p).Filename) }
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	ignore := types.Config{Error: func(error) {}} // there is no importer: names of other packages are not known
	pkg, _ := ignore.Check(folder, set, files, &info)
	needs := map[string]map[string]string{}
	for id, object := range info.Uses {
		field, _ := object.(*types.Var)
		if object.Pkg() != pkg || field != nil && field.IsField() {
			continue
		}
		from, to := at(id.Pos()), at(object.Pos())
		if needs[from] == nil {
			needs[from] = map[string]string{}
		}
		if from != to {
			needs[from][to] = id.Name
		}
	}
	return needs
}
