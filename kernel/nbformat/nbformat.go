// Package nbformat reads, writes and changes Jupyter notebooks (nbformat 4) without Jupyter. It writes the same bytes
// as Jupyter, so using both causes no spurious diffs. It keeps fields that it does not know. It also cleans notebooks
// for version control and sets their parameters.
package nbformat

import (
	"fmt"
	"os"
	"slices"
)

// Cell types and output types of nbformat 4.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"

	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	Error         = "error"
)

// Notebook is a notebook of format 4.
type Notebook struct {
	Minor    int // nbformat_minor; from 5 on, cells have ids
	Cells    []*Cell
	Metadata map[string]any
	rest     map[string]any // top-level fields that this package does not know
}

// Cell is a cell of a notebook.
type Cell struct {
	Type           string // Code, Markdown or Raw
	ID             string // empty before nbformat 4.5
	Source         string
	Metadata       map[string]any
	ExecutionCount int      // of Code cells; 0 is written as null
	Outputs        []Output // of Code cells
	rest           map[string]any
}

// Output is one output of a code cell. Which fields are set depends on Type.
type Output struct {
	Type           string
	Name, Text     string     // Stream
	Data           MIMEBundle // DisplayData, ExecuteResult
	Metadata       map[string]any
	ExecutionCount int      // ExecuteResult
	Ename, Evalue  string   // Error
	Traceback      []string // Error
	rest           map[string]any
}

// MIMEBundle holds the same content in several forms, by MIME type. A value is a string, or for JSON types the
// decoded value, with numbers as json.Number.
type MIMEBundle map[string]any

// Text returns the string of a MIME type, and whether there is one.
func (b MIMEBundle) Text(mime string) (string, bool) {
	s, ok := b[mime].(string)
	return s, ok
}

// HasTag says whether a cell has a tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	return slices.Contains(tags, any(tag))
}

// Kernel is the name of the notebook's kernelspec; empty if it names none.
func (nb *Notebook) Kernel() string { return nb.text("kernelspec", "name") }

// Language is the language of the notebook's code, such as "go"; empty if it names none.
func (nb *Notebook) Language() string {
	if name := nb.text("language_info", "name"); name != "" {
		return name
	}
	return nb.text("kernelspec", "language")
}

// text returns a string field of an object in the notebook's metadata; empty if there is none.
func (nb *Notebook) text(object, field string) string {
	o, _ := nb.Metadata[object].(map[string]any)
	s, _ := o[field].(string)
	return s
}

// Read reads a notebook file.
func Read(file string) (*Notebook, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the notebook: %w", err)
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	return nb, nil
}
