package check

import (
	"fmt"
	"io"
	"math"
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
		text = fmt.Sprintf("%s: %d numbers, %d differences, in %v\n%s", outcome.File, outcome.numbers,
			len(outcome.Differences), outcome.Took.Round(100*time.Millisecond), text)
	}
	_, err := io.WriteString(o.Report, text)
	return err
}

func (o Outcome) details() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	if len(o.Differences) > 0 {
		fmt.Fprint(table, "what\tcell\tname\tin the file\tin a run\ttolerance\n")
	}
	for _, d := range o.Differences {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", d.What, d.Cell, d.Name, digits(d.Was), digits(d.Now),
			digits(d.Tolerance))
	}
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
