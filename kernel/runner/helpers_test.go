package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// scripted is a kernel that obeys the first word of a cell.
type scripted struct {
	ran    []string // sources, in order
	closed bool
	dead   bool
	enter  chan string // receives the source of a cell that hangs; may be nil
}

func (k *scripted) Language() json.RawMessage { return nil }
func (k *scripted) Close() error              { k.closed = true; return nil }

var ok = jupyter.Reply{Status: "ok"}

func (k *scripted) Execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error) {
	if err := ctx.Err(); err != nil {
		return jupyter.Reply{}, err
	}
	if k.dead {
		return jupyter.Reply{}, jupyter.ErrKernelDied
	}
	k.ran = append(k.ran, code)
	word, rest, _ := strings.Cut(code, " ")
	switch word {
	case "print":
		on(jupyter.Output{Type: "stream", Name: "stdout", Text: rest + "\n"})
	case "script":
		for line := range strings.Lines(rest) {
			if line = strings.TrimSpace(line); line != "!sh" {
				on(parse(line))
			}
		}
	case "fail":
		on(jupyter.Output{Type: "stream", Name: "stderr", Text: "why it failed\n\n"})
		on(jupyter.Output{Type: "error", Ename: gonbError, Evalue: rest, Traceback: []string{rest}})
		return jupyter.Reply{Status: "error", Ename: gonbError, Evalue: rest, Traceback: []string{rest}}, nil
	case "hang":
		on(jupyter.Output{Type: "stream", Name: "stdout", Text: "begun\n"})
		if k.enter != nil {
			k.enter <- code
		}
		<-ctx.Done()
		return jupyter.Reply{}, fmt.Errorf("the cell was interrupted: %w", context.Cause(ctx))
	case "die":
		k.dead = true
		on(jupyter.Output{Type: "stream", Name: "stdout", Text: "last words\n"})
		return jupyter.Reply{}, fmt.Errorf("%w: its process ended (signal: killed)", jupyter.ErrKernelDied)
	}
	return ok, nil
}

// parse reads an output of a script: out TEXT, err TEXT, show ID TEXT, update ID TEXT, comm ID STATE,
// clear, clear-wait. \r and \n in texts are control characters.
func parse(line string) jupyter.Output {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(rest)
	switch word {
	case "out":
		return jupyter.Output{Type: "stream", Name: "stdout", Text: rest}
	case "err":
		return jupyter.Output{Type: "stream", Name: "stderr", Text: rest}
	case "clear":
		return jupyter.Output{Type: "clear_output"}
	case "clear-wait":
		return jupyter.Output{Type: "clear_output", Wait: true}
	}
	id, text, _ := strings.Cut(rest, " ")
	data, _ := json.Marshal(text)
	o := jupyter.Output{
		Type:      "display_data",
		DisplayID: strings.TrimPrefix(id, "-"),
		Data:      map[string]json.RawMessage{"text/plain": data},
	}
	if word == "update" {
		o.Type = "update_display_data"
	}
	return o
}

// newNotebook returns a notebook with a code cell for each source. A tag comes before the source: "#tag source".
func newNotebook(sources ...string) *nbformat.Notebook {
	nb := &nbformat.Notebook{Minor: 5, Metadata: map[string]any{}}
	for i, source := range sources {
		c := &nbformat.Cell{Type: nbformat.Code, ID: fmt.Sprint("c", i), Source: source, Metadata: map[string]any{}}
		if tag, rest, ok := strings.Cut(strings.TrimPrefix(source, "#"), " "); ok && strings.HasPrefix(source, "#") {
			c.Source, c.Metadata["tags"] = rest, []any{tag}
		}
		nb.Cells = append(nb.Cells, c)
	}
	return nb
}

// fixture holds options that run notebooks in scripted kernels and save them to a file.
type fixture struct {
	*scripted
	file  string
	saves int
	Options
}

func newFixture(t *testing.T) *fixture {
	b := &fixture{scripted: &scripted{}, file: filepath.Join(t.TempDir(), "out.ipynb")}
	b.Options = Options{
		Start: func(context.Context) (Kernel, error) { return b.scripted, nil },
		Save:  func(nb *nbformat.Notebook) error { b.saves++; return nbformat.Write(b.file, nb) },
	}
	return b
}

func (b *fixture) saved(t *testing.T) *nbformat.Notebook {
	t.Helper()
	nb, err := nbformat.Read(b.file)
	demand.NoError(t, err)
	return nb
}

// outputs writes the outputs of each cell as short text.
func outputs(nb *nbformat.Notebook) string {
	var cells []string
	for _, c := range nb.Cells {
		var all []string
		for _, o := range c.Outputs {
			text, _ := o.Data.Text("text/plain")
			all = append(all, strings.TrimPrefix(o.Name+":", ":")+text+o.Text+o.Evalue)
		}
		cells = append(cells, strings.Join(all, "|"))
	}
	return strings.ReplaceAll(strings.Join(cells, " / "), "\n", "~")
}
