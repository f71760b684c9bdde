package nbformat

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Clean removes from a notebook what differs between two runs of the same code: execution counts, times, random ids,
// the state of the user interface, and the split of streams into pieces. Sources and outputs stay, except for random
// names in outputs, which are numbered. Cleaning a clean notebook changes nothing.
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
	nb.cleanIDs()
}

// volatileMetadata lists the metadata fields of a notebook that record a run or the state of a Jupyter extension.
var volatileMetadata = []string{Record, "papermill", "widgets", "toc", "vscode", "varInspector"}

// volatileCellMetadata is the same list for cells.
var volatileCellMetadata = []string{Record, "papermill", "execution", "ExecuteTime", "collapsed", "scrolled", "vscode"}

// Record is the metadata field, of notebooks and of cells, in which package runner records a run.
const Record = "tvps"

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

var (
	// drawn matches the random ids that Jupyter gives to new cells.
	drawn = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
	// valid is nbformat's rule for ids.
	valid = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// cleanIDs gives an id to cells without a valid, unique one, and replaces random ids. The new id is a hash of the
// cell's content. Ids that a person chose stay. So do ids given here: they do not change when the cell is edited.
func (nb *Notebook) cleanIDs() {
	nb.Minor = max(nb.Minor, 5)
	taken := map[string]bool{}
	keep := map[*Cell]bool{}
	for _, c := range nb.Cells {
		if valid.MatchString(c.ID) && !drawn.MatchString(c.ID) && !taken[c.ID] {
			taken[c.ID], keep[c] = true, true
		}
	}
	for _, c := range nb.Cells {
		if keep[c] {
			continue
		}
		sum := sha256.Sum256([]byte(c.Type + "\n" + c.Source))
		base := fmt.Sprintf("cell-%x", sum[:4])
		c.ID = base
		for n := 2; taken[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s-%d", base, n)
		}
		taken[c.ID] = true
	}
}
