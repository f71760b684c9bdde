package nbformat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// sample was written by nbformat 5.11: text outside ASCII, CRLF, Unicode's separators,
// control characters, unknown fields, all types of cells and outputs.
const sample = "testdata/jupyter.ipynb"

func read(t *testing.T, file string) *Notebook {
	t.Helper()
	nb, err := Read(file)
	demand.NoError(t, err)
	return nb
}

func contents(t *testing.T, nb *Notebook) string {
	t.Helper()
	data, err := nb.Bytes()
	demand.NoError(t, err)
	return string(data)
}

func TestWritesWhatJupyterWrote(t *testing.T) {
	want := demand.Read(t, sample)
	file := filepath.Join(t.TempDir(), "copy.ipynb")
	demand.NoError(t, Write(file, read(t, sample)))
	got := demand.Read(t, file)
	demand.Diff(t, string(got), string(want), "what Jupyter wrote, written again")
}

func TestReadsText(t *testing.T) {
	nb := read(t, sample)
	want := "# Überschrift — ω(x)\nwith $a_1 < b_2$ & <b>HTML</b>\r\nCRLF\u2028separator \\u2028 typed"
	demand.Equal(t, nb.Cells[0].Source, want, "source")
	out := nb.Cells[2].Outputs[2]
	if html, _ := out.Data.Text("text/html"); !strings.HasPrefix(html, "<div id=\"gonb_0a1b2c3d\">x</div>\n<script>") {
		t.Errorf("HTML %q", html)
	}
	if nb.Kernel() != "tvps" || nb.Language() != "go" || !nb.Cells[1].HasTag("parameters") ||
		nb.Cells[2].HasTag("parameters") {
		t.Errorf("kernel %q, language %q, cell %+v", nb.Kernel(), nb.Language(), nb.Cells[1])
	}
}

func TestOldNotebookStaysOld(t *testing.T) {
	old := `{"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": [{"cell_type": "code", "source": "a\nb",
		"metadata": {"trusted": true}, "outputs": [], "execution_count": 2}]}`
	nb, err := Parse([]byte("\uFEFF" + old))
	demand.NoError(t, err)
	want := `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 2,
   "metadata": {},
   "outputs": [],
   "source": [
    "a\n",
    "b"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 2
}
`
	demand.Diff(t, contents(t, nb), want, "the notebook")
}

// Python's numbers that JSON lacks stay, and so does what looks like them, or like half a character, in a text.
func TestOddNotebookStaysOdd(t *testing.T) {
	odd := `{
 "cells": [
  {
   "cell_type": "raw",
   "metadata": {
    "1e7777777777771": [
     NaN,
     Infinity,
     -Infinity,
     1e400
    ]
   },
   "source": [
    "NaN \\\\\"Infinity\\\\ud83d \\\\\" 1e7777777777772"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 4
}
`
	nb, err := Parse([]byte(odd))
	demand.NoError(t, err)
	demand.Diff(t, contents(t, nb), odd, "the notebook")
	nb, err = Parse([]byte(strings.Replace(odd, "1e7777777777772", `\ud83d\uDE00`, 1)))
	demand.NoError(t, err)
	demand.Words(t, contents(t, nb), "😀")
}

func TestDamagedFiles(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"empty":       {" \n", "is empty"},
		"cut off":     {"{\"nbformat\": 4,\n\"cells\": [", "damaged at line 2: unexpected end"},
		"syntax":      {"{\"nbformat\": 4,\n\"cells\": [}]}", "damaged at line 2: invalid character '}'"},
		"not UTF-8":   {"{\n\n\"a\": \"\xff\"}", "is not UTF-8"},
		"a half":      {"{\n\"a\": \"\\ud83d\\ude00 \\\\ud83d \\uD83D\"}", `damaged at line 2: \uD83D is half a character`},
		"other half":  {"{\n\n\"\\udc00\": 1}", `damaged at line 3: \udc00 is half a character`},
		"after NaN":   {"{\n\"a\": NaN,\n}", "damaged at line 3: invalid character '}'"},
		"NaN as text": {`{"nbformat": 4, "cells": [{"cell_type": "raw", "source": NaN}]}`, "source of cell 1 has the wrong"},
		"two values":  {"{\"nbformat\": 4}\n{}", "damaged at line 2: invalid character '{' after top-level value"},
		"list":        {"[]", "its JSON value is not an object"},
		"other JSON":  {"{}", "has no field nbformat"},
		"format 3":    {`{"nbformat": 3, "worksheets": []}`, "is in the old notebook format 3: open and save it"},
		"format 5":    {`{"nbformat": 5}`, "format 5, but this program supports only format 4"},
		"cells":       {`{"nbformat": 4, "cells": {}}`, "cells of the notebook has the wrong type"},
		"a cell":      {`{"nbformat": 4, "cells": [7]}`, "cell 1 has the wrong type"},
		"a source":    {`{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}`, "source of cell 1 has the wrong type"},
		"a cell type": {`{"nbformat": 4, "cells": [{"cell_type": "heading"}]}`, `cell 1 has the type "heading"`},
		"an output": {`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": ["x"]}]}`,
			"output 1 of cell 1 has the wrong type"},
		"a text": {
			`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "stream", "text": [1]}]}]}`,
			"text of output 1 of cell 1 has",
		},
		"a traceback": {
			`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "error", "traceback": "x"}]}]}`,
			"traceback of output 1 of cell 1 has",
		},
		"a format": {`{"nbformat": "4"}`, "nbformat of the notebook has the wrong type"},
	} {
		file := filepath.Join(t.TempDir(), "x.ipynb")
		demand.Write(t, file, c.data)
		_, err := Read(file)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), file+" ") {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestWriteKeepsTheOldFileOrHasTheNew(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.ipynb"), filepath.Join(dir, "link.ipynb")
	demand.Write(t, file, "old")
	demand.NoError(t, os.Chmod(file, 0o600))
	if err := os.Symlink("real.ipynb", link); err != nil {
		t.Skip("no links here:", err)
	}
	bad := read(t, sample)
	bad.Metadata["bad"] = func() {} // cannot be written
	if err := Write(link, bad); err == nil {
		t.Error("a notebook that cannot be encoded was written")
	}
	if data, _ := os.ReadFile(file); string(data) != "old" {
		t.Errorf("after a failure the file holds %q", data)
	}
	demand.NoError(t, Write(link, read(t, sample)))
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 1000 {
		t.Errorf("file %v, error %v", info, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("temporary files were left: %v", left)
	}
}
