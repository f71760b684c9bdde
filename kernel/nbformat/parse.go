package nbformat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Parse decodes a notebook. Its errors continue a sentence that begins with the file's name: "is damaged ...".
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty, so it is not a notebook")
	}
	if !utf8.Valid(data) {
		return nil, errors.New("is damaged: it is not UTF-8")
	}
	damaged := func(at int, what any) error {
		return fmt.Errorf("is damaged at line %d: %v", 1+bytes.Count(data[:at], []byte("\n")), what)
	}
	if half := halves(data); half != nil {
		return nil, damaged(half[0], fmt.Sprintf("%s is half a character: remove it", data[half[0]:half[1]]))
	}
	err := json.Unmarshal(data, new(json.RawMessage))
	if err != nil {
		data = swapNumbers(data)
		err = json.Unmarshal(data, new(json.RawMessage))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, damaged(int(syntax.Offset), err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var top map[string]any
	if d.Decode(&top) != nil {
		return nil, errors.New("is not a notebook: its JSON value is not an object")
	}
	return fromJSON(top)
}

// escaped matches an escape in a JSON text: two halves of a character, one half, which is its group, or another.
var escaped = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)

// halves finds the first half of a character (a lone surrogate), which Go would replace; nil if there is none.
func halves(data []byte) []int {
	if !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return nil
	}
	for _, at := range escaped.FindAllSubmatchIndex(data, -1) {
		if at[2] >= 0 {
			return at[:2]
		}
	}
	return nil
}

// Python writes numbers that JSON lacks. In memory they are numbers that are too large for every type.
const nan, infinity = "1e7777777777771", "1e7777777777772"

var swapped = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|NaN|Infinity|` + nan + "|" + infinity)

// swapNumbers replaces the ones by the others in a JSON text, and the other way round.
func swapNumbers(data []byte) []byte {
	others := map[string]string{"NaN": nan, nan: "NaN", "Infinity": infinity, infinity: "Infinity"}
	return swapped.ReplaceAllFunc(data, func(s []byte) []byte { return []byte(cmp.Or(others[string(s)], string(s))) })
}

// object is a JSON object that is being decoded. The take functions remove known fields from it; unknown fields
// remain. err is the first error.
type object struct {
	fields map[string]any
	where  string // as in "cell 3"
	err    error
}

// take removes a field and returns it as a T; the zero value if it is missing or null.
func take[T any](o *object, name string) T {
	value := o.fields[name]
	delete(o.fields, name)
	t, ok := value.(T)
	if value != nil && !ok && o.err == nil {
		o.err = fmt.Errorf("is not a valid notebook: %s of %s has the wrong type", name, o.where)
	}
	return t
}

// takeAll removes a list of objects and decodes each. The format makes a name of an object's number.
func takeAll[T any](o *object, name, format string, decode func(*object) T) []T {
	var all []T
	for i, value := range take[[]any](o, name) {
		item := &object{where: fmt.Sprintf(format, i+1)}
		var ok bool
		if item.fields, ok = value.(map[string]any); !ok {
			item.err = fmt.Errorf("is not a valid notebook: %s has the wrong type", item.where)
		}
		all = append(all, decode(item))
		if o.err == nil {
			o.err = item.err
		}
	}
	return all
}

// takeMap removes an object and returns it without some of its fields; it is never nil.
func takeMap(o *object, name string, without ...string) map[string]any {
	m := take[map[string]any](o, name)
	drop(m, without...)
	return orEmpty(m)
}

// takeInt removes a field and returns its integer; 0 if it is missing or null.
func takeInt(o *object, name string) int {
	n, err := take[json.Number](o, name).Int64()
	if err != nil {
		return 0
	}
	return int(n)
}

// takeText removes a field and returns its text, which is stored as a string or as a list of lines.
func takeText(o *object, name string) string {
	if list, ok := o.fields[name].([]any); ok {
		if text, ok := join(list); ok {
			delete(o.fields, name)
			return text
		}
	}
	return take[string](o, name)
}

// takeBundle removes a field and returns its MIME bundle; nil if there is none.
func takeBundle(o *object, name string) MIMEBundle {
	bundle := MIMEBundle(take[map[string]any](o, name))
	for mime, value := range bundle {
		if list, ok := value.([]any); ok && !isJSON(mime) {
			if text, ok := join(list); ok {
				bundle[mime] = text
			}
		}
	}
	return bundle
}

// join joins a list of strings. It returns false if the list contains another type.
func join(list []any) (string, bool) {
	var b strings.Builder
	for _, line := range list {
		s, ok := line.(string)
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// isJSON says whether values of a MIME type are JSON rather than text.
func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

func fromJSON(top map[string]any) (*Notebook, error) {
	o := &object{fields: top, where: "the notebook"}
	if _, ok := top["nbformat"]; !ok {
		return nil, errors.New("is not a notebook: it has no field nbformat")
	}
	switch major := takeInt(o, "nbformat"); {
	case o.err != nil:
		return nil, o.err
	case major < 4:
		return nil, fmt.Errorf("is in the old notebook format %d: "+
			"open and save it in Jupyter to convert it to format 4", major)
	case major > 4:
		return nil, fmt.Errorf("is in notebook format %d, but this program supports only format 4", major)
	}
	nb := &Notebook{
		Minor:    takeInt(o, "nbformat_minor"),
		Metadata: takeMap(o, "metadata", "orig_nbformat", "orig_nbformat_minor", "signature"), // as Jupyter does
		Cells:    takeAll(o, "cells", "cell %d", cellFromJSON),
	}
	nb.rest = o.fields
	if o.err != nil {
		return nil, o.err
	}
	return nb, nil
}

func cellFromJSON(o *object) *Cell {
	c := &Cell{
		Type:     take[string](o, "cell_type"),
		ID:       take[string](o, "id"),
		Source:   takeText(o, "source"),
		Metadata: takeMap(o, "metadata", "trusted"),
	}
	if o.err == nil && c.Type != Code && c.Type != Markdown && c.Type != Raw {
		o.err = fmt.Errorf("is not a valid notebook: %s has the type %q", o.where, c.Type)
	}
	if c.Type == Code {
		c.ExecutionCount = takeInt(o, "execution_count")
		c.Outputs = takeAll(o, "outputs", "output %d of "+o.where, outputFromJSON)
	}
	c.rest = o.fields
	return c
}

func outputFromJSON(o *object) Output {
	out := Output{Type: take[string](o, "output_type")}
	switch out.Type {
	case Stream:
		out.Name, out.Text = take[string](o, "name"), takeText(o, "text")
	case ExecuteResult, DisplayData:
		out.Data, out.Metadata = takeBundle(o, "data"), takeMap(o, "metadata")
		if out.Type == ExecuteResult {
			out.ExecutionCount = takeInt(o, "execution_count")
		}
	case Error:
		out.Ename, out.Evalue = take[string](o, "ename"), take[string](o, "evalue")
		for _, line := range take[[]any](o, "traceback") {
			s, _ := line.(string)
			out.Traceback = append(out.Traceback, s)
		}
	}
	out.rest = o.fields
	return out
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func drop(m map[string]any, names ...string) {
	for _, name := range names {
		delete(m, name)
	}
}
