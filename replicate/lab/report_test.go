package lab

import (
	"encoding/xml"
	"html"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// report returns the page of the stored runs.
func (l *testLab) report(t *testing.T) string {
	t.Helper()
	page, err := l.Report(t.Context(), l.options)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// shown returns a page without entities.
func shown(page string) string { return html.UnescapeString(page) }

// sections returns the sections of the page by id.
func sections(t *testing.T, page string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, part := range strings.Split(page, "<section ")[1:] {
		id := regexp.MustCompile(`^id="([^"]+)"`).FindStringSubmatch(part)
		if id == nil {
			t.Fatalf("a section without id: %.80s", part)
		}
		out[id[1]] = part
	}
	return out
}

// TestReport: the page has pictures, tables, claims and provenance of the stored figures 1, 7 and 14, and of the
// others the command that makes them.
func TestReport(t *testing.T) {
	a := newLab(t)
	a.options.Overrides = []string{"g-updates=7"}
	a.lacking = func(job runs.Wanted) int { // one run of panel b lacks a step
		if job.Spec.Experiment == "cifar10a" && job.Series == "finetune" && job.Spec.Seed == 2 {
			return 1
		}
		return 0
	}
	a.fill(t, 1, 7, 14)
	source := a.report(t)
	wellFormed(t, source)
	page := shown(source)
	selfContained(t, page)
	part := sections(t, page)
	if before, _, _ := strings.Cut(page, "<svg"); strings.Count(before, `class="answer"`) > 2 {
		t.Error("the answers of other figures stand above the first picture")
	}
	for id, words := range map[string][]string{
		"fig01": {`class="verdict confirmed">holds<`, `class="verdict contradicted">does not hold<`,
			"a +10.1 [+9.9, +10.3] points", "d (stand-in, not CLEAR) +", "53 of 54 runs stored", `id="fig01-a"`, "(d) CLEAR (T = 30) (" + supervised.StandIn + ")",
			`<th scope="row">Fine-tune</th>`, ">+0.1010<", "Not drawn, as runs are missing: Fine-tune.", "c0ffee",
			`<a href="#settings">gaussian</a>, but g-updates=7`, "N = 300 samples a step"},
		"fig02":      {"0 of 45 runs stored", `class="verdict missing">not run<`},
		"fig06":      {"0 of 21 runs stored", "What is missing: <code>go run ./replicate fig6 --scale tiny --set g-updates=7</code>"},
		"fig07":      {"18 of 18 runs stored", supervised.StandIn},
		"settings":   {`<th scope="col">cifar10c</th>`, "<td>g-updates</td>"},
		"provenance": {"c0ffee", "made-up", "go run ./replicate report --scale tiny"},
		"citing":     {"@inproceedings{fakoor2024timevarying,"},
	} {
		demand.Words(t, part[id], words...)
	}
	if strings.Contains(part["fig02"]+part["fig06"], "<svg") {
		t.Error("figures that are not run have pictures")
	}
	if n := strings.Count(part["fig01"], "<svg"); n != 4 {
		t.Errorf("figure 1 has %d pictures", n)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{a.results, os.TempDir(), "hostname", host} {
		if strings.Contains(page, secret) {
			t.Errorf("the page contains %s", secret)
		}
	}
	if a.report(t) != source {
		t.Error("the same runs gave another page")
	}
}

var (
	reference  = regexp.MustCompile(`(?i)\b(?:src|href|srcset|poster|data|action)\s*=\s*"([^"]*)"`)
	picture    = regexp.MustCompile(`<svg role="img" aria-label="[^"]+"`)
	identifier = regexp.MustCompile(`\bid="([^"]+)"`)
)

// selfContained fails the test unless the page loads and runs nothing, its links stay within it, and its pictures are
// embedded, described and load nothing.
func selfContained(t *testing.T, page string) {
	t.Helper()
	for _, word := range []string{"<script", "<link", "<iframe", "<object", "<embed", "@import", "url(",
		"javascript:", "onload", "ZgotmplZ", "http://", "https://"} {
		if strings.Contains(strings.ToLower(page), strings.ToLower(word)) {
			t.Errorf("the page holds %s", word)
		}
	}
	var ids []string
	for _, m := range identifier.FindAllStringSubmatch(page, -1) {
		if slices.Contains(ids, m[1]) {
			t.Errorf("the id %s occurs twice", m[1])
		}
		ids = append(ids, m[1])
	}
	for _, m := range reference.FindAllStringSubmatch(page, -1) {
		if inside := strings.HasPrefix(m[1], "#") && slices.Contains(ids, m[1][1:]); !inside {
			t.Errorf("the page refers to %.60s", m[1])
		}
	}
	if n, all := len(picture.FindAllString(page, -1)), strings.Count(page, "<svg"); n != all ||
		strings.Contains(page, "<img") {
		t.Errorf("%d of %d pictures are embedded and described", n, all)
	}
	demand.Words(t, page, `<html lang="en">`, `<meta name="viewport"`, "@media print", "break-before: page", "<title>")
}

// wellFormed fails the test unless every element of the page is closed in the right place.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "img"}, xml.HTMLEntity
	var open []string
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(d.AutoClose, token.Name.Local) {
				open = append(open, token.Name.Local)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("</%s> closes %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
}
