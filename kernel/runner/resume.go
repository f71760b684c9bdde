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

// chain extends a hash by one text of the given kind.
func chain(before, kind, text string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%s", before, kind, len(text), text)))[:32]
}

// finished is the number of leading cells that need not run again: cells that succeeded in the earlier run, with
// the same kernel and the same sources up to and including their own. Parameters are part of the sources.
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

// recordOf reads the record of an earlier run from a cell. Both values are empty if there is none.
func recordOf(c *nbformat.Cell) (hash, status string) {
	record, _ := c.Metadata[nbformat.Record].(map[string]any)
	hash, _ = record["hash"].(string)
	status, _ = record["status"].(string)
	return hash, status
}

// reuse copies the outputs of the first done cells from the earlier run, with the state of their widgets.
func (r *run) reuse(done int) {
	if r.o.Previous == nil { // there are no cells to run
		return
	}
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
	r.widgets.reuse(r.o.Previous, r.cells[:done])
	r.widgets.record(r.nb)
}

// resume prepares a fresh kernel for the cell after the first done ones, and returns the number of cells that need
// not run. In most kernels variables live on from cell to cell, so all cells must run again. In GoNB none does:
// each cell is a program made of its source and of the declarations of earlier cells. So for GoNB resume only
// sends the declarations again.
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
		if reply.Status != "ok" && !s.HasTag(RaisesTag) { // the declarations do not compile without main
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

// ownCellCommands lists GoNB's commands that affect only the program of their own cell.
var ownCellCommands = map[string]bool{"%args": true, "%test": true, "%exec": true, "%wasm": true, "%capture": true}

// declarations is the part of a cell that affects later cells: its declarations and the commands that change the
// kernel, without main. It is empty if nothing is left. A cell that is not Go or cannot be parsed is returned whole.
func declarations(source string) string {
	var kept []string
	for line := range strings.Lines(source) {
		command, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:"), " ")
		switch {
		case len(kept) == 0 && strings.HasPrefix(command, "%%") && command != "%%":
			return source // %%bash, %%writefile
		case command == "%%" || command == "%main":
			return withoutMain(strings.Join(kept, ""))
		case ownCellCommands[command]:
			kept = append(kept, "\n")
		default:
			kept = append(kept, line)
		}
	}
	return withoutMain(strings.Join(kept, ""))
}

// withoutMain removes the function main from a Go cell. The result is empty if only comments are left.
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
