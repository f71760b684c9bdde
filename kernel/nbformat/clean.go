package nbformat

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Clean removes from a notebook what differs between two runs of the same code: execution counts, times,
// the state of the user interface, and the split of streams into pieces. Sources, outputs and the ids of cells stay,
// except for random names in outputs, which are numbered. Cleaning a clean notebook changes nothing.
func (nb *Notebook) Clean() {
	drop(nb.Metadata, volatileMetadata...)
	if info, ok := nb.Metadata["language_info"].(map[string]any); ok {
		delete(info, "version")
	}
	names := temporary{}
	for _, c := range nb.Cells {
		c.ExecutionCount = 0
		drop(c.Metadata, volatileCellMetadata...)
		if tags, ok := c.Metadata["tags"].([]any); ok && len(tags) == 0 {
			delete(c.Metadata, "tags")
		}
		c.Outputs = joinStreams(c.Outputs)
		for i := range c.Outputs {
			cleanOutput(&c.Outputs[i], names)
		}
	}
}

// volatileMetadata lists the metadata fields of a notebook that record a run or the state of a Jupyter extension.
var volatileMetadata = []string{"papermill", "widgets", "toc", "vscode", "varInspector"}

// volatileCellMetadata is the same list for cells.
var volatileCellMetadata = []string{"papermill", "execution", "ExecuteTime", "collapsed", "scrolled", "vscode"}

func joinStreams(outputs []Output) []Output {
	var joined []Output
	for _, o := range outputs {
		last := len(joined) - 1
		if o.Type == Stream && last >= 0 && joined[last].Type == Stream && joined[last].Name == o.Name {
			joined[last].Text += o.Text
			continue
		}
		joined = append(joined, o)
	}
	return joined
}

func cleanOutput(o *Output, names temporary) {
	o.ExecutionCount = 0
	drop(o.rest, "transient")
	o.Text, o.Evalue = names.clean(o.Text), names.clean(o.Evalue)
	for i := range o.Traceback {
		o.Traceback[i] = names.clean(o.Traceback[i])
	}
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) { // names are numbered in this order
		if text, ok := o.Data.Text(mime); ok && isText(mime) {
			o.Data[mime] = names.clean(text)
		}
	}
}

// isText says whether the value of a MIME type is text and not base64.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
}

// random matches the random names of GoNB and package jupyter: ids of HTML elements, and the folders in which cells
// are built.
var random = regexp.MustCompile(`(gonb_(?:[a-zA-Z]+_)*)([0-9a-f]{8})\b|(tvps-kernel-)(\d+)\b`)

// temporary maps the random names of a notebook to numbered names, in the order in which they appear.
type temporary map[string]string

func (t temporary) clean(text string) string {
	return random.ReplaceAllStringFunc(text, func(name string) string {
		if t[name] == "" {
			m := random.FindStringSubmatch(name)
			if prefix := m[1]; prefix != "" {
				t[name] = fmt.Sprintf("%s%08x", prefix, len(t)+1)
			} else {
				t[name] = fmt.Sprintf("%s%d", m[3], len(t)+1)
			}
		}
		return t[name]
	})
}
