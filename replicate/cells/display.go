package cells

import (
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// MIME types of what is shown.
const (
	plainMIME = "text/plain"
	htmlMIME  = "text/html"
	pngMIME   = "image/png"
	svgMIME   = "image/svg+xml"

	// ValuesMIME marks numbers for `go run ./kernel check`: {"values": {name: number}}, or
	// {"series": {name: points}} for a chart, as [Charts] writes them.
	ValuesMIME = "application/vnd.tvps.values+json"
)

// message is one output of a cell: the same thing in several MIME types, text/plain
// always among them.
type message struct {
	id   string // if set, it takes the place of the last message with this id
	data map[string]any
}

// sink is where outputs go.
type sink interface{ display(message) }

// output is the sink of this program. Tests put their own in its place.
var output sink = newSink()

func newSink() sink {
	if gonbui.IsNotebook {
		return cell{}
	}
	return plain{os.Stdout}
}

// cell is GoNB's, which passes messages on to the front end.
type cell struct{}

func init() { gob.Register(map[string]any{}) } // GoNB's pipe carries gob, and nested maps are values

func (cell) display(m message) {
	data := make(map[protocol.MIMEType]any, len(m.data))
	for mime, content := range m.data {
		data[protocol.MIMEType(mime)] = content
	}
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: m.id})
	flush(gonbui.Sync)
}

// flush waits until GoNB has what was sent, for it closes the pipe when the program ends.
func flush(sync func()) {
	done := make(chan struct{})
	go func() { sync(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second): // GoNB is gone, or about to kill this program
	}
}

// plain prints the text. What would change in place is left out, since lines stay.
type plain struct{ out io.Writer }

func (p plain) display(m message) {
	if m.id == "" {
		fmt.Fprintln(p.out, m.data[plainMIME])
	}
}
