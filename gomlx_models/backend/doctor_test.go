package backend

import (
	"strings"
	"testing"
)

func TestPrintChecks(t *testing.T) {
	var out strings.Builder
	failed, err := PrintChecks(&out, []Check{
		{Name: "a", Status: OK, Detail: "fine", Fix: "not shown"},
		{Name: "long", Status: Fail, Detail: "bad", Fix: "mend it"},
		{Name: "b", Status: Warn, Detail: "so so"},
	})
	want := "ok    a     fine\nfail  long  bad\n            -> mend it\nwarn  b     so so\n"
	if out.String() != want || failed != 1 || err != nil {
		t.Errorf("%d failed, %v, printed\n%s\nwant\n%s", failed, err, out.String(), want)
	}
}
