package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"tvps/kernel/jupyter"
)

// updatesEvery is the shortest time between two live displays of an output that changes in place, such as a
// progress bar.
const updatesEvery = 10 * time.Second

// show prints an output when it arrives: streams and errors as they are, other outputs as plain text.
func (c *collector) show(o jupyter.Output) {
	if c.r.o.Live == io.Discard || o.Type == "update_display_data" && time.Since(c.updated) < updatesEvery {
		return
	}
	var text string
	switch o.Type {
	case "stream":
		text = o.Text
	case "error":
		text = strings.TrimRight(strings.Join(o.Traceback, "\n"), "\n") + "\n"
	default:
		text = plain(o)
	}
	if o.DisplayID != "" {
		c.updated = time.Now()
	}
	if fmt.Fprint(c.r.o.Live, text); text != "" {
		c.open = !strings.HasSuffix(text, "\n")
	}
}

// plain is an output's plain text. Without one it is a note with the MIME type and size of another form.
func plain(o jupyter.Output) string {
	var text string
	if json.Unmarshal(o.Data["text/plain"], &text) == nil && strings.TrimSpace(text) != "" {
		return strings.TrimRight(text, "\n") + "\n"
	}
	for _, mime := range []string{"text/html", "text/markdown", "image/png", "image/svg+xml"} {
		if raw, ok := o.Data[mime]; ok {
			return fmt.Sprintf("[%s, %d bytes]\n", mime, len(raw))
		}
	}
	return ""
}
