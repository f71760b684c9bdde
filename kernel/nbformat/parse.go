package nbformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Parse decodes a notebook. Its errors continue a sentence that begins with the file's name: "is damaged ...".
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty, so it is not a notebook")
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, fmt.Errorf("is damaged at %s: not UTF-8", place(data, i))
	}
	value, err := decode(data)
	if err != nil {
		return nil, err
	}
	top, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("is not a notebook: its JSON value is not an object")
	}
	return fromJSON(top)
}

// decode decodes one JSON value. Its errors give the place of a syntax error.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at, why := place(data, int(syntax.Offset)-1), strings.TrimPrefix(syntax.Error(), "json: ")
		return nil, fmt.Errorf("is damaged at %s: %s", at, why)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("is damaged: it ends too early, at %s", place(data, len(data)))
	case err != nil:
		return nil, fmt.Errorf("is damaged: %w", err)
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		return nil, fmt.Errorf("is damaged at %s: there is more text after the end of the notebook",
			place(data, len(data)-len(rest)))
	}
	return value, nil
}

// place describes the position of a byte by its line and its offset.
func place(data []byte, offset int) string {
	offset = max(0, min(offset, len(data)))
	return fmt.Sprintf("line %d (byte %d)", 1+bytes.Count(data[:offset], []byte("\n")), offset)
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
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
	value, there := o.fields[name]
	delete(o.fields, name)
	t, ok := value.(T)
	if there && value != nil && !ok && o.err == nil {
		o.err = fmt.Errorf("is not a valid notebook: %s of %s is %s", name, o.where, kindOf(value))
	}
	return t
}

// kindOf names the type of a JSON value, for an error message.
func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	}
	return "of the wrong type"
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

// fromJSON makes a notebook from its JSON object.
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
	nb := &Notebook{Minor: takeInt(o, "nbformat_minor"), Metadata: take[map[string]any](o, "metadata")}
	nb.Metadata = orEmpty(nb.Metadata)
	drop(nb.Metadata, "orig_nbformat", "orig_nbformat_minor", "signature") // as Jupyter does
	for i, value := range take[[]any](o, "cells") {
		where := fmt.Sprintf("cell %d", i+1)
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("is not a valid notebook: %s is %s", where, kindOf(value))
		}
		c, err := cellFromJSON(&object{fields: fields, where: where})
		if err != nil {
			return nil, err
		}
		nb.Cells = append(nb.Cells, c)
	}
	nb.rest = o.fields
	if o.err != nil {
		return nil, o.err
	}
	return nb, nil
}

func cellFromJSON(o *object) (*Cell, error) {
	c := &Cell{
		Type:     take[string](o, "cell_type"),
		ID:       take[string](o, "id"),
		Source:   takeText(o, "source"),
		Metadata: orEmpty(take[map[string]any](o, "metadata")),
	}
	drop(c.Metadata, "trusted")
	if o.err == nil && c.Type != Code && c.Type != Markdown && c.Type != Raw {
		return nil, fmt.Errorf("is not a valid notebook: %s has the type %q", o.where, c.Type)
	}
	if o.fields["attachments"] != nil {
		attachments := &object{fields: take[map[string]any](o, "attachments"), where: "the attachments of " + o.where}
		c.Attachments = map[string]MIMEBundle{}
		for name := range attachments.fields {
			c.Attachments[name] = takeBundle(attachments, name)
		}
		o.err = errors.Join(o.err, attachments.err)
	}
	if c.Type == Code {
		c.ExecutionCount = takeInt(o, "execution_count")
		for i, value := range take[[]any](o, "outputs") {
			where := fmt.Sprintf("output %d of %s", i+1, o.where)
			fields, ok := value.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("is not a valid notebook: %s is %s", where, kindOf(value))
			}
			out, err := outputFromJSON(&object{fields: fields, where: where})
			if err != nil {
				return nil, err
			}
			c.Outputs = append(c.Outputs, out)
		}
	}
	c.rest = o.fields
	if o.err != nil {
		return nil, o.err
	}
	return c, nil
}

func outputFromJSON(o *object) (Output, error) {
	out := Output{Type: take[string](o, "output_type")}
	switch out.Type {
	case Stream:
		out.Name, out.Text = take[string](o, "name"), takeText(o, "text")
	case ExecuteResult, DisplayData:
		out.Data = takeBundle(o, "data")
		out.Metadata = orEmpty(take[map[string]any](o, "metadata"))
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
	if o.err != nil {
		return Output{}, o.err
	}
	return out, nil
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
