package runner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// chain hashes one thing more behind what was hashed before.
func chain(before, kind, text string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%s", before, kind, len(text), text)))[:32]
}

// finished is how many cells at the beginning of the notebook need not be run again: those
// that ended well in the earlier run, and before which nothing differs, neither the kernel
// nor a source. Parameters are part of the sources.
func (r *run) finished() int {
	if r.o.Previous == nil {
		return 0
	}
	earlier := map[string]*nbformat.Cell{}
	for _, c := range r.o.Previous.Cells {
		hash, status := recordOf(c)
		if status == statusOK || status == statusRaised {
			earlier[hash] = c
		}
	}
	for i, s := range r.cells {
		if earlier[s.hash] == nil {
			return i
		}
	}
	return len(r.cells)
}

// recordOf reads what an earlier run wrote down about a cell.
func recordOf(c *nbformat.Cell) (hash, status string) {
	record, _ := c.Metadata[nbformat.Record].(map[string]any)
	hash, _ = record["hash"].(string)
	status, _ = record["status"].(string)
	return hash, status
}

// reuse takes the outputs of the first cells from the earlier run.
func (r *run) reuse(done int) {
	earlier := map[string]*nbformat.Cell{}
	for _, c := range r.o.Previous.Cells {
		hash, _ := recordOf(c)
		earlier[hash] = c
	}
	for _, s := range r.cells[:done] {
		c := earlier[s.hash]
		s.Outputs, s.ExecutionCount = c.Outputs, s.number
		s.Metadata[nbformat.Record] = c.Metadata[nbformat.Record]
		r.result.Reused++
	}
}

// resume brings a fresh kernel into the state that it has behind the first cells, and
// returns how many cells need not be run. In most kernels variables live on, so that all
// cells must run again. In GoNB none does: each cell is a program of its own, made of its
// source and of the declarations of the cells before it. There the declarations are given to
// the kernel again, and the programs are not run.
func (r *run) resume(ctx context.Context, done int) (int, error) {
	if done == 0 || r.kernel.Info().Implementation != "gonb" {
		return 0, nil
	}
	for i, s := range r.cells[:done] {
		code := declarations(s.Source)
		if code == "" {
			continue
		}
		reply, err := r.execute(ctx, code, func(jupyter.Output) {})
		if err != nil {
			return 0, failure(ctx, s, reply, err, r.o.Timeout)
		}
		if reply.Status != "ok" && !s.HasTag(RaisesTag) { // it cannot stand alone
			done = i
			break
		}
	}
	r.reuse(done)
	if done > 0 {
		fmt.Fprintf(r.o.Live, "[1-%d/%d] finished earlier\n", done, len(r.cells))
	}
	return done, nil
}

// once are GoNB's commands that concern only the program of their own cell.
var once = map[string]bool{"%args": true, "%test": true, "%exec": true, "%wasm": true, "%capture": true}

// declarations is what GoNB remembers of a cell, and the commands that change the kernel:
// the cell without main. It is empty if nothing is left. A cell that is no Go is left whole,
// as is one that cannot be parsed.
func declarations(source string) string {
	var kept []string
	for line := range strings.Lines(source) {
		command, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:"), " ")
		switch {
		case len(kept) == 0 && strings.HasPrefix(command, "%%") && command != "%%":
			return source // %%bash, %%writefile
		case command == "%%" || command == "%main":
			return withoutMain(strings.Join(kept, ""))
		case once[command]:
			kept = append(kept, "\n")
		default:
			kept = append(kept, line)
		}
	}
	return withoutMain(strings.Join(kept, ""))
}

// withoutMain removes the function main from a Go cell; empty if nothing is left but
// comments.
func withoutMain(source string) string {
	var commands, code strings.Builder
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "%") || strings.HasPrefix(line, "//gonb:") {
			commands.WriteString(strings.TrimRight(line, "\n") + "\n")
			line = "\n"
		}
		code.WriteString(line)
	}
	const header = "package p\n"
	text := header + code.String()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return source
	}
	left := len(file.Decls)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			begin, end := fset.Position(f.Pos()).Offset, fset.Position(f.End()).Offset
			text = text[:begin] + strings.Repeat(" ", end-begin) + text[end:]
			left--
		}
	}
	if left == 0 {
		return commands.String()
	}
	return commands.String() + strings.TrimPrefix(text, header)
}
