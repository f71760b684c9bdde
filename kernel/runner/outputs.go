package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// displayed locates an output with a display id.
type displayed struct {
	cell  *nbformat.Cell
	index int
}

// collector turns the messages of a running cell into its outputs.
type collector struct {
	r       *run
	cell    *step
	texts   map[int]*strings.Builder // of the streams among the outputs, by index
	clear   bool                     // remove all outputs when the next one arrives
	updated time.Time                // when an update was last shown live
	open    bool                     // the last text that was shown live has no end of its line
}

func (c *collector) add(o jupyter.Output) {
	if c.clear && o.Type != "clear_output" && o.Type != "update_display_data" {
		c.reset()
	}
	switch o.Type {
	case "clear_output":
		if c.clear = o.Wait; !o.Wait {
			c.reset()
		}
		return
	case "update_display_data":
		c.update(o)
	case "stream":
		c.stream(o)
	case "display_data", "execute_result":
		c.update(o)
		c.display(o)
	case "error":
		c.cell.Outputs = append(c.cell.Outputs,
			nbformat.Output{Type: o.Type, Ename: o.Ename, Evalue: o.Evalue, Traceback: o.Traceback})
	}
	c.show(o)
}

// reset removes the cell's outputs and forgets their display ids.
func (c *collector) reset() {
	for id, all := range c.r.displays {
		c.r.displays[id] = slices.DeleteFunc(all, func(d displayed) bool { return d.cell == c.cell.Cell })
	}
	c.cell.Outputs, c.clear, c.texts = nil, false, map[int]*strings.Builder{}
}

// stream appends text to the last output if it is the same stream; otherwise it adds an output.
func (c *collector) stream(o jupyter.Output) {
	last := len(c.cell.Outputs) - 1
	if last < 0 || c.cell.Outputs[last].Type != nbformat.Stream || c.cell.Outputs[last].Name != o.Name {
		last++
		c.cell.Outputs = append(c.cell.Outputs, nbformat.Output{Type: nbformat.Stream, Name: o.Name})
		c.texts[last] = &strings.Builder{}
	}
	c.texts[last].WriteString(o.Text)
}

// display adds an output with data.
func (c *collector) display(o jupyter.Output) {
	out := nbformat.Output{Type: o.Type, Data: bundle(o.Data), Metadata: bundle(o.Metadata)}
	if o.Type == nbformat.ExecuteResult {
		out.ExecutionCount = c.cell.number
	}
	c.cell.Outputs = append(c.cell.Outputs, out)
	if o.DisplayID != "" {
		c.r.displays[o.DisplayID] = append(c.r.displays[o.DisplayID], displayed{c.cell.Cell, len(c.cell.Outputs) - 1})
	}
}

// update replaces the content of all outputs with the display id, including those of earlier cells.
func (c *collector) update(o jupyter.Output) {
	for _, p := range c.r.displays[o.DisplayID] {
		out := &p.cell.Outputs[p.index]
		out.Data, out.Metadata = bundle(o.Data), bundle(o.Metadata)
	}
}

func bundle(data map[string]json.RawMessage) map[string]any {
	all := map[string]any{}
	for mime, raw := range data {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var value any
		if d.Decode(&value) == nil {
			all[mime] = value
		}
	}
	return all
}

// finish sets the texts of the cell's streams, and ends the last line of what is shown live.
func (c *collector) finish() {
	if c.open {
		fmt.Fprintln(c.r.o.Live)
	}
	for i, text := range c.texts {
		c.cell.Outputs[i].Text = overwritten(text.String())
	}
}

// overwritten is a text as a terminal shows it: what follows a carriage return replaces the line before it, so that a
// progress bar leaves only its last state.
func overwritten(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := strings.TrimRight(line, "\r\n")
		b.WriteString(end[strings.LastIndexByte(end, '\r')+1:])
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
