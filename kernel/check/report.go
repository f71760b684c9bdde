package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

func (o Options) tell(outcome Outcome) error {
	text := outcome.details()
	switch {
	case outcome.Skipped != "":
		text = fmt.Sprintf("%s: skipped: %s\n", outcome.File, outcome.Skipped)
	case outcome.Err == nil:
		text = fmt.Sprintf("%s: %d numbers, %d differences, in %v\n%s", outcome.File, outcome.Numbers,
			len(outcome.Differences), outcome.Took.Round(100*time.Millisecond), text)
	}
	_, err := io.WriteString(o.Report, text)
	return err
}

func (o Outcome) details() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	list := func(title string, differences []Difference) {
		if len(differences) == 0 {
			return
		}
		fmt.Fprint(table, title, "what\tcell\tname\tgolden\tvalue\ttolerance\n")
		for _, d := range differences {
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", d.What, d.Cell, d.Name, digits(d.Golden), digits(d.Value),
				digits(d.Tolerance))
		}
	}
	list("", o.Differences)
	list("the outputs in the file have other numbers than the golden file:\n", o.Stored)
	if len(o.Stale) > 0 {
		fmt.Fprint(table, "the outputs in the file are out of date:\ncell\toutput\tin the file\tin a run\n")
	}
	for _, s := range o.Stale {
		fmt.Fprintf(table, "%d (%s)\t%s\t%q\t%q\n", s.Cell, s.ID, s.What, s.Was, s.Now)
	}
	table.Flush()
	return text.String()
}

func digits(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}

// summary says in one line what is wrong.
func (o Outcome) summary() string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.Skipped != "":
		return "skipped: " + o.Skipped
	}
	return fmt.Sprintf("%d numbers of the run and %d in the file differ from the golden file, %d cells are out of date",
		len(o.Differences), len(o.Stored), len(o.Stale))
}

type (
	xmlSuite struct {
		XMLName xml.Name  `xml:"testsuite"`
		Name    string    `xml:"name,attr"`
		Cases   []xmlCase `xml:"testcase"`
	}
	xmlCase struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		Time    string  `xml:"time,attr"`
		Failure *xmlWhy `xml:"failure"`
		Error   *xmlWhy `xml:"error"`
		Skipped *xmlWhy `xml:"skipped"`
	}
	xmlWhy struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit describes the outcomes in the XML of JUnit: a test case for each notebook. Numbers that differ and outputs that
// are out of date are failures; a notebook that cannot be run is an error.
func junit(outcomes []Outcome) ([]byte, error) {
	s := xmlSuite{Name: "notebooks"}
	for _, o := range outcomes {
		c := xmlCase{Name: filepath.Base(o.File), Class: "kernel.check", Time: fmt.Sprintf("%.3f", o.Took.Seconds())}
		switch why := (&xmlWhy{o.summary(), o.details()}); {
		case o.Skipped != "":
			c.Skipped = why
		case o.Err != nil:
			c.Error = why
		case !o.good():
			c.Failure = why
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(s, "", " ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
