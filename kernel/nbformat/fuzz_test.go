package nbformat

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzNotebook: no file panics. What is accepted is written as bytes that, read again, give the same bytes; so does a
// clean notebook, which stays the same when it is cleaned again; and its page can be made.
func FuzzNotebook(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ipynb")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {},
		"execution_count": null, "source": ["a\n", "b"], "outputs": [{"output_type": "stream", "name": "stdout", "text": "x"},
		{"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[31mred\u001b[0m"]},
		{"output_type": "display_data", "data": {"text/html": "<b>", "application/json": {"a": 1e400}}, "metadata": {}}]}]}`))
	f.Add([]byte(`{"nbformat": 4, "nbformat_minor": 5, "cells": [{"cell_type": "markdown", "id": "gonb_00000000",
		"source": "![a](attachment:b) $x_1$", "attachments": {"b": {"image/png": "AAAA"}}, "metadata": {"tags": []}}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse(data)
		if err != nil {
			return
		}
		same := func(when string) {
			t.Helper()
			first, err := nb.Bytes()
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			back, err := Parse(first)
			if err != nil {
				t.Fatalf("%s: what was written is refused: %v\n%s", when, err, first)
			}
			if second, err := back.Bytes(); err != nil || !bytes.Equal(first, second) {
				t.Fatalf("%s: written as\n%s\nthen as\n%s\n%v", when, first, second, err)
			}
		}
		same("as it is")
		if _, err := nb.HTML(HTMLOptions{Dir: dir}); err != nil {
			t.Logf("no page: %v", err)
		}
		nb.Clean()
		same("clean")
		before, err := nb.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		nb.Clean()
		if after, err := nb.Bytes(); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("clean is\n%s\nclean again is\n%s\n%v", before, after, err)
		}
	})
}

// FuzzParameters: no source of a cell panics, in Go or Python. Each parameter's literal is where its place says, and
// a value that is accepted for it is read back as a parameter of the same name and type.
func FuzzParameters(f *testing.F) {
	f.Add("var (\n\tscale string = \"tiny\" // doc\n\tn = 3\n)\n%%\nx", "small", false)
	f.Add("const d time.Duration = 90 * time.Second\nvar f float32 = -1.5", "1h30m", false)
	f.Add("var a, b = true, 'x'\n!ls\n//gonb:%%\nvar c = 4", "false", false)
	f.Add("scale = \"tiny\"  # doc\nn: int = 3\nf = -1e-3\nb = True", "a\"\n\\", true)
	f.Add("s = '''x'''\nt = r\"\\\"", "1_000", true)
	f.Fuzz(func(t *testing.T, source, value string, python bool) {
		language := "go"
		if python {
			language = "python"
		}
		cell := &Cell{Type: Code, Source: source, Metadata: map[string]any{"tags": []any{ParametersTag}}}
		nb := &Notebook{Cells: []*Cell{cell}, Metadata: map[string]any{"kernelspec": map[string]any{"language": language}}}
		all, err := nb.Parameters()
		if err != nil {
			return
		}
		names := map[string]int{}
		for _, p := range all {
			names[p.Name]++
			if got := source[p.begin:p.end]; got != p.Default {
				t.Fatalf("%s: default %q, but its place holds %q", p.Name, p.Default, got)
			}
		}
		for i, p := range all {
			if names[p.Name] > 1 || !utf8.ValidString(value) {
				continue
			}
			cell.Source = source
			if nb.SetParameters(map[string]string{p.Name: value}) != nil {
				continue
			}
			after, err := nb.Parameters()
			if err != nil || len(after) != len(all) {
				t.Fatalf("%s = %q makes %q, which has the parameters %v, %v", p.Name, value, cell.Source, after, err)
			}
			if got := after[i]; got.Name != p.Name || got.Type != p.Type {
				t.Fatalf("%s = %q makes %q: %v became %v", p.Name, value, cell.Source, p, got)
			}
		}
	})
}
