package nbformat

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Clean removes from a notebook what differs from one run to the next although nothing was
// changed: execution counts, times, ids drawn at random, the state of the user interface,
// how streams happened to be cut into pieces. Sources and the contents of outputs stay, but
// for the names of temporary things in them. Cleaning twice is cleaning once.
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

// volatileMetadata is metadata of a notebook that says how it was run, or what an
// extension of Jupyter drew last.
var volatileMetadata = []string{Record, "papermill", "widgets", "toc", "vscode", "varInspector"}

// volatileCellMetadata is the same of cells.
var volatileCellMetadata = []string{Record, "papermill", "execution", "ExecuteTime", "collapsed", "scrolled", "vscode"}

// Record is the field of metadata, of notebooks and of cells, where package runner writes
// down what it did.
const Record = "tvps"

// joinStreams joins neighbouring pieces of the same stream.
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

// isText says whether the value of a MIME type is text, and no image in base64.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
}

// random matches what GoNB and package jupyter draw at random: ids of HTML elements, and the
// folders in which cells are built.
var random = regexp.MustCompile(`(gonb_(?:[a-zA-Z]+_)*)([0-9a-f]{8})\b|(tvps-kernel-)(\d+)\b`)

// temporary numbers the random names of a notebook in the order in which they come.
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
	// drawn matches the ids that Jupyter draws at random for new cells.
	drawn = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
	// valid is nbformat's rule for ids.
	valid = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// cleanIDs gives cells without an id, and those whose id was drawn at random, one that
// follows from what they hold. An id that somebody chose stays, as does one given here: an
// id does not change when its cell is edited.
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

// RemoveOutputs removes the outputs of all cells.
func (nb *Notebook) RemoveOutputs() {
	for _, c := range nb.Cells {
		c.ExecutionCount, c.Outputs = 0, nil
	}
}

// Clone is a copy that shares nothing that is changed here or in package runner.
func (nb *Notebook) Clone() (*Notebook, error) {
	data, err := nb.Bytes()
	if err != nil {
		return nil, err
	}
	return Parse(data)
}
