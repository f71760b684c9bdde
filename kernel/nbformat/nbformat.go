// Package nbformat reads, writes and changes Jupyter notebooks (nbformat 4) without Jupyter.
// What it writes is byte for byte what Jupyter writes, so that a notebook that goes through
// both leaves no noise in diffs; what it does not know, it keeps. It also cleans notebooks
// for version control, sets the parameters of a notebook, and exports a notebook as one HTML
// page.
package nbformat

import (
	"fmt"
	"os"
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
	Minor    int // nbformat_minor: 5 since cells have ids
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
	Attachments    map[string]MIMEBundle // of Markdown and Raw cells; nil if there are none
	ExecutionCount int                   // of Code cells; 0 is written as null
	Outputs        []Output              // of Code cells
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

// MIMEBundle holds the same content in several forms. A value is a string, or for JSON
// types what encoding/json makes of it, with numbers as json.Number.
type MIMEBundle map[string]any

// Text returns the bundle's string of that type, and whether there is one.
func (b MIMEBundle) Text(mime string) (string, bool) {
	s, ok := b[mime].(string)
	return s, ok
}

// Tags are a cell's tags.
func (c *Cell) Tags() []string {
	list, _ := c.Metadata["tags"].([]any)
	var tags []string
	for _, t := range list {
		if s, ok := t.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// HasTag says whether a cell has a tag.
func (c *Cell) HasTag(tag string) bool {
	for _, t := range c.Tags() {
		if t == tag {
			return true
		}
	}
	return false
}

// Kernel is the name of the kernelspec that the notebook asks for; empty if it asks for none.
func (nb *Notebook) Kernel() string { return nb.text("kernelspec", "name") }

// Language is the language of the notebook's code, as in "go"; empty if it does not say.
func (nb *Notebook) Language() string {
	if name := nb.text("language_info", "name"); name != "" {
		return name
	}
	return nb.text("kernelspec", "language")
}

// text is a string in an object of the notebook's metadata.
func (nb *Notebook) text(object, field string) string {
	o, _ := nb.Metadata[object].(map[string]any)
	s, _ := o[field].(string)
	return s
}

// CodeCells are the cells that hold code and are not empty.
func (nb *Notebook) CodeCells() []*Cell {
	var cells []*Cell
	for _, c := range nb.Cells {
		if c.Type == Code && c.Source != "" {
			cells = append(cells, c)
		}
	}
	return cells
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
