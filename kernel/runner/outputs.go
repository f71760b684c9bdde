package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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
	mu      sync.Mutex // held while the outputs of the notebook change
	changed bool       // since the last snapshot
	r       *run
	cell    *step
	budgets map[string]*budget // by name of the stream
	texts   map[int]*stream    // the streams among the outputs, by index
	clear   bool               // remove all outputs when the next one arrives
	data    int                // bytes of data so far
	dropped int                // outputs beyond the data limit
	shown   int                // bytes shown live
	updated time.Time          // when an update was last shown live
}

func newCollector(r *run, cell *step) *collector {
	c := &collector{r: r, cell: cell}
	c.reset()
	return c
}

// dataLimit is the limit of a cell's data (pictures, HTML) as a multiple of the limit of a stream.
const dataLimit = 64

func (c *collector) add(o jupyter.Output) {
	c.show(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
	switch o.Type {
	case "clear_output":
		if c.clear = o.Wait; !o.Wait {
			c.reset()
		}
		return
	case "update_display_data":
		c.update(o)
		return
	}
	if c.clear {
		c.reset()
	}
	switch o.Type {
	case "stream":
		c.stream(o)
	case "display_data", "execute_result":
		c.update(o)
		c.display(o)
	case "error":
		c.cell.Outputs = append(c.cell.Outputs,
			nbformat.Output{Type: o.Type, Ename: o.Ename, Evalue: o.Evalue, Traceback: o.Traceback})
	}
}

// reset removes the cell's outputs and forgets their display ids.
func (c *collector) reset() {
	for id, all := range c.r.displays {
		c.r.displays[id] = slices.DeleteFunc(all, func(d displayed) bool { return d.cell == c.cell.Cell })
	}
	c.cell.Outputs, c.clear, c.data, c.dropped = nil, false, 0, 0
	c.texts, c.budgets = map[int]*stream{}, map[string]*budget{}
}

// stream appends text to the last output if it is the same stream; otherwise it adds an output.
func (c *collector) stream(o jupyter.Output) {
	b := c.budgets[o.Name]
	if b == nil {
		b = &budget{limit: streamLimit}
		c.budgets[o.Name] = b
	}
	if b.left > 0 {
		b.left += len(o.Text)
		return
	}
	last := len(c.cell.Outputs) - 1
	if last < 0 || c.cell.Outputs[last].Type != nbformat.Stream || c.cell.Outputs[last].Name != o.Name {
		last++
		c.cell.Outputs = append(c.cell.Outputs, nbformat.Output{Type: nbformat.Stream, Name: o.Name})
		c.texts[last] = &stream{budget: b}
		b.used += outputCost
	}
	c.texts[last].write(o.Text)
}

// display adds an output with data, unless the cell has reached its data limit.
func (c *collector) display(o jupyter.Output) {
	size := 100
	for _, value := range o.Data {
		size += len(value)
	}
	if c.data += size; c.data > dataLimit*streamLimit {
		c.dropped++
		return
	}
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

// snapshot is a copy of the notebook with the outputs so far; nil if there is no new one since the last call. It
// shares no output with the notebook, whose outputs change while the copy is written.
func (c *collector) snapshot() *nbformat.Notebook {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed {
		return nil
	}
	c.changed = false
	nb := *c.r.nb
	nb.Cells = slices.Clone(nb.Cells)
	for i, cell := range nb.Cells {
		copied := *cell
		if copied.Outputs = slices.Clone(cell.Outputs); cell == c.cell.Cell {
			copied.Outputs = c.all()
		}
		nb.Cells[i] = &copied
	}
	return &nb
}

// all returns the outputs so far: those of the cell, and a note on what was left out.
func (c *collector) all() []nbformat.Output {
	all := slices.Clone(c.cell.Outputs)
	for i, s := range c.texts {
		all[i].Text = s.text()
	}
	if c.dropped > 0 {
		note := fmt.Sprintf("[%d more outputs were left out here: the limit is %d bytes of data per cell]\n",
			c.dropped, dataLimit*streamLimit)
		all = append(all, nbformat.Output{Type: nbformat.Stream, Name: "stderr", Text: note})
	}
	return all
}

// budget limits the text that is kept of one stream of a cell. All outputs of the stream share it: outputs of
// other kinds in between cut the stream into several.
type budget struct {
	limit, used int
	left        int // bytes left out
}

// outputCost is charged to the budget for each output, in addition to its text.
const outputCost = 64

// stream collects text as a terminal shows it: text after a carriage return overwrites the line, so a progress bar
// leaves only its last state. Text beyond the budget is counted but not kept.
type stream struct {
	*budget
	lines   strings.Builder // the finished lines
	line    []byte          // the last, unfinished line
	restart bool            // the last character was a carriage return
	note    bool            // the budget ran out in this stream
}

func (s *stream) write(text string) {
	for text != "" && s.left == 0 {
		if end := strings.IndexAny(text, "\r\n"); end != 0 {
			if end < 0 {
				end = len(text)
			}
			s.append(text[:end])
			text = text[end:]
			continue
		}
		if text[0] == '\n' {
			s.lines.Write(s.line)
			s.lines.WriteByte('\n')
			s.line = s.line[:0]
			s.used++
		}
		s.restart = text[0] == '\r'
		text = text[1:]
	}
	s.left += len(text)
}

// append adds text without line breaks.
func (s *stream) append(piece string) {
	if s.restart {
		s.used -= len(s.line)
		s.line, s.restart = s.line[:0], false
	}
	if space := max(0, s.limit-s.used); space < len(piece) {
		for space > 0 && !utf8.RuneStart(piece[space]) {
			space--
		}
		s.left += len(piece) - space
		s.note = true
		piece = piece[:space]
	}
	s.used += len(piece)
	s.line = append(s.line, piece...)
}

// text is the kept text, with a note if some was left out.
func (s *stream) text() string {
	text := s.lines.String() + string(s.line)
	if !s.note {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[%d more bytes were left out here: the limit is %d per stream of a cell]\n",
		s.left, s.limit)
}
