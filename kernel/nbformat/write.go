package nbformat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tvps/data/artifact"
)

// Write writes a notebook to a file in one step, as WriteFile does.
func Write(file string, nb *Notebook) error {
	data, err := nb.Bytes()
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	return WriteFile(file, data)
}

// WriteFile replaces a file in one step: it writes a temporary file in the same folder, which it makes if needed, and
// renames it. No reader sees a partly written file. It follows a symbolic link, and an existing file keeps its
// permissions.
func WriteFile(file string, data []byte) error {
	target := file
	if real, err := filepath.EvalSymlinks(file); err == nil {
		target = real
	}
	err := os.MkdirAll(filepath.Dir(target), 0o755)
	if err == nil {
		err = artifact.Replace(target, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	return nil
}

// Bytes encodes the notebook in Jupyter's format: fields sorted, indented by one space, texts as lists of lines,
// non-ASCII characters not escaped.
func (nb *Notebook) Bytes() ([]byte, error) {
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.json()
	}
	top := with(nb.rest, map[string]any{
		"nbformat": 4, "nbformat_minor": nb.Minor, "metadata": orEmpty(nb.Metadata), "cells": cells,
	})
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(top); err != nil {
		return nil, fmt.Errorf("cannot encode the notebook as JSON: %w", err)
	}
	text := []byte(unescape.Replace(b.String()))
	if bytes.Contains(text, []byte(nan)) || bytes.Contains(text, []byte(infinity)) {
		text = swapNumbers(text)
	}
	return text, nil
}

// unescape restores the two characters that encoding/json escapes for JavaScript. The first pair skips escaped
// backslashes, so text that looks like an escape is not changed.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

func (c *Cell) json() map[string]any {
	fields := map[string]any{
		"cell_type": c.Type, "metadata": orEmpty(c.Metadata), "source": splitLines(c.Source),
	}
	if c.ID != "" {
		fields["id"] = c.ID
	}
	if c.Type == Code {
		outputs := make([]any, len(c.Outputs))
		for i, out := range c.Outputs {
			outputs[i] = out.json()
		}
		fields["outputs"], fields["execution_count"] = outputs, orNull(c.ExecutionCount)
	}
	return with(c.rest, fields)
}

func (o Output) json() map[string]any {
	fields := map[string]any{"output_type": o.Type}
	switch o.Type {
	case Stream:
		fields["name"], fields["text"] = o.Name, splitLines(o.Text)
	case DisplayData, ExecuteResult:
		fields["data"], fields["metadata"] = o.Data.json(), orEmpty(o.Metadata)
		if o.Type == ExecuteResult {
			fields["execution_count"] = orNull(o.ExecutionCount)
		}
	case Error:
		fields["ename"], fields["evalue"] = o.Ename, o.Evalue
		fields["traceback"] = append([]string{}, o.Traceback...)
	}
	return with(o.rest, fields)
}

// json encodes a bundle. Texts become lists of lines, as in Jupyter; a base64 image stays one string.
func (b MIMEBundle) json() map[string]any {
	fields := map[string]any{}
	for mime, value := range b {
		if text, ok := value.(string); ok && isText(mime) {
			value = splitLines(text)
		}
		fields[mime] = value
	}
	return fields
}

// with returns the unknown fields rest together with the known fields.
func with(rest, fields map[string]any) map[string]any {
	all := maps.Clone(orEmpty(rest))
	maps.Copy(all, fields)
	return all
}

// orNull is an execution count as a JSON value: null for 0.
func orNull(count int) any {
	if count == 0 {
		return nil
	}
	return count
}

// lineBreaks are those of Python, and so of Jupyter.
const lineBreaks = `\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}`

// line matches a text up to its first line break.
var line = regexp.MustCompile(`[^` + lineBreaks + `]*(?:\r\n|[` + lineBreaks + `])|.+`)

// splitLines splits a text after each line break.
func splitLines(text string) []string { return append([]string{}, line.FindAllString(text, -1)...) }
