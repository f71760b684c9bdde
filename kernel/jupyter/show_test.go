package jupyter

import "testing"

func TestShown(t *testing.T) {
	for code, want := range map[string]string{
		"1 + 1":                          "%%\nfmt.Println(1 + 1)",
		"var x = 1\nx // the value\n":    "var x = 1\n%%\nfmt.Println(x)\n",
		"%%\n\tx.y[0]":                   "%%\nfmt.Println(\tx.y[0])",
		"//gonb:%main a\n!ls\nlen(x)":    "//gonb:%main a\n!ls\nfmt.Println(len(x))",
		"%env A b\nx":                    "%env A b\n%%\nfmt.Println(x)",
		"%%\nf(x)":                       "", // may have no result
		"%%\nx := a +\nb":                "", // the end of a statement
		"%%\nx := []int{\n1,\n2}":        "",
		"const x = `\nb\n`":              "",
		"var s = `\nx":                   "",
		"f(\n1,\nx":                      "",
		"x := 1":                         "",
		"%%bash\nx":                      "",
		"%test\nx":                       "",
		"!ls \\\nx":                      "",
		"%%\nx\n!ls":                     "",
		"func f() {}":                    "",
		"%%\nif true {\n\tprintln(1)\n}": "",
		"":                               "",
	} {
		if want == "" {
			want = code
		}
		if got := shown(code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}
