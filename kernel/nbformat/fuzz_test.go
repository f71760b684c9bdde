package nbformat

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
)

// FuzzNotebook: no file panics. What is accepted is written as bytes that, read again, give the same bytes; so does a
// clean notebook, which stays the same when it is cleaned again.
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
		nb.Clean()
		same("clean")
		before, err := nb.Bytes()
		demand.NoError(t, err)
		nb.Clean()
		if after, err := nb.Bytes(); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("clean is\n%s\nclean again is\n%s\n%v", before, after, err)
		}
	})
}
