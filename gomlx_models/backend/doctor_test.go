package backend

import (
	"strings"
	"testing"
)

func TestPrintChecks(t *testing.T) {
	var out strings.Builder
	failed, err := PrintChecks(&out, []Check{
		{Name: "a", Status: OK, Detail: "fine", Fix: "not shown"},
		{Name: "long", Status: Fail, Detail: "bad", Fix: "repair it"},
		{Name: "b", Status: Warn, Detail: "odd"},
	})
	want := "ok    a     fine\nfail  long  bad\n            -> repair it\nwarn  b     odd\n"
	if out.String() != want || failed != 1 || err != nil {
		t.Errorf("%d failed, %v, printed\n%s\nwant\n%s", failed, err, out.String(), want)
	}
}
