package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for --zone on machines without a time zone database

	"tvps/data/artifact"
	"tvps/data/table"
	"tvps/figures"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// tableFlags are those of the commands on a user's own table.
type tableFlags struct {
	time, label, group, labelKind, bin string
	drop, missing                      []string
	kinds, layouts                     map[string]string
	delimiter, decimal                 string
	zone, clockChange                  string
	quote, comment                     string
	skip                               int
	noHeader                           bool
	seed                               int64
	updates                            int
	json                               string
}

func (f *tableFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.time, "time", "",
		"column of the time, or columns, as date+hour or year+month; without it the rows are in time order, and --bin cuts "+
			"them into blocks")
	flags.StringVar(&f.label, "label", "", "column of the outcome (default: none)")
	flags.StringVar(&f.group, "group", "",
		"column of the entity of each row, such as a shop: the tests for drift shuffle each by itself, and backtest tests no "+
			"model on an entity that it learned from. It is a feature only if --type names its type (default: none)")
	flags.StringVar(&f.labelKind, "label-kind", "", "kind of the label: class or number (default: found)")
	flags.StringVar(&f.bin, "bin", "none",
		"grouping of times: none, hour, day, week, month, quarter, year, \"365 rows\" or \"20 blocks\"")
	flags.StringSliceVar(&f.drop, "drop", nil, "columns to leave out")
	flags.StringToStringVar(&f.kinds, "type", nil,
		"types of columns instead of the inferred ones, as zip=category; one of number, category, boolean, time, text")
	flags.StringToStringVar(&f.layouts, "layout", nil,
		"how times are written, as day=%d.%m.%Y: Python's directives, a Go layout, or for numbers unix, unixms, unixus, "+
			"unixns, excel, yyyymm, yyyyww, yyyymmdd, and hh, hhmm or hhmmss behind that")
	flags.StringSliceVar(&f.missing, "missing", nil,
		"texts that mean a missing value, besides an empty one and NaN (default: NA, null and the like); inf keeps the default")
	flags.StringVar(&f.delimiter, "delimiter", "", "delimiter of a CSV file; tab for a tab (default: found)")
	flags.StringVar(&f.decimal, "decimal", "", "decimal mark of a CSV file's numbers: . or , (default: found)")
	flags.StringVar(&f.quote, "quote", `"`, `quotes of a CSV file's fields: " or none, if quotes are part of the text`)
	flags.StringVar(&f.comment, "comment", "", "first character of lines of a CSV file that are left out, such as #")
	flags.IntVar(&f.skip, "skip", 0, "number of lines of a CSV file above its header (default 0: found)")
	flags.BoolVar(&f.noHeader, "no-header", false, "a CSV file has no header; its columns are c1, c2, ... (default: found)")
	flags.StringVar(&f.zone, "zone", "UTC", "time zone of times without one, and of bins, as Europe/Paris")
	flags.StringVar(&f.clockChange, "clock-change", "",
		"time that is meant by one that the zone's clocks show twice or skip: earlier or later (default: an error)")
	flags.Int64Var(&f.seed, "seed", 0, "seed of all random numbers")
	flags.IntVar(&f.updates, "updates", 0, "limit of minibatches in one training of g (default 0: no further limit)")
	flags.StringVar(&f.json, "json", "", "file for settings, schema and results (default: none)")
	flags.Lookup("type").DefValue, flags.Lookup("layout").DefValue = "", "" // not []
	cmd.Long = "Example: tvps " + cmd.Name() + " orders.csv --time date --label returned --bin week\n" +
		"TABLE is a file, a folder of files, or a pattern in quotes, as 'part-*.csv'. Folders such as year=2024 are columns.\n\n" +
		cmd.Long
}

// oneTable returns a usage error unless a command gets one table.
func oneTable(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage.Errorf("%s takes one table, but got %d; quote a pattern of files, as 'part-*.csv'", cmd.CommandPath(), len(args))
	}
	switch args[0] {
	case "":
		return usage.Errorf("the name of the table is empty; name a CSV or Parquet file")
	case "-":
		return usage.Errorf("standard input is not read; save the table to a file and name it")
	}
	return nil
}

// source is the table that the flags describe. All its errors are usage errors.
func (f *tableFlags) source(file string) (tables.Source, error) {
	s := tables.Source{File: file, Time: f.time, Label: f.label, Group: f.group, LabelKind: table.LabelKind(f.labelKind)}
	var err error
	if s.Read, err = f.reading(); err != nil {
		return s, err
	}
	if s.Bin, err = table.ParseBin(f.bin); err != nil {
		return s, usage.Errorf("--bin: %w", err)
	}
	if s.Time == "" && s.Bin.Rows == 0 && s.Bin.Blocks == 0 {
		if _, err := table.Files(file); err != nil { // the name may be what is wrong
			return s, mistake(err)
		}
		return s, usage.Errorf("--time is missing: name the column of the time, or, for rows in time order, " +
			"give --bin \"20 blocks\"")
	}
	if f.labelKind != "" && s.LabelKind != table.Classes && s.LabelKind != table.Regression {
		return s, usage.Errorf("--label-kind %s is neither %s nor %s", f.labelKind, table.Classes, table.Regression)
	}
	if f.labelKind != "" && f.label == "" {
		return s, usage.Errorf("--label-kind is of a label; name its column by --label")
	}
	return s, nil
}

// reading says how the file is read. All its errors are usage errors.
func (f *tableFlags) reading() (table.Options, error) {
	o := table.Options{Drop: f.drop, Missing: f.missing, Layouts: f.layouts, Kinds: map[string]table.Kind{},
		Skip: f.skip, ClockChange: f.clockChange, NoHeader: f.noHeader, NoQuotes: f.quote == "none"}
	for column, kind := range f.kinds {
		o.Kinds[column] = table.Kind(kind)
		if !slices.Contains(table.Kinds, o.Kinds[column]) {
			return o, usage.Errorf("--type %s=%s: the type is not one of %s", column, kind,
				strings.Join(propensity.Names(table.Kinds), ", "))
		}
	}
	switch delimiter := f.delimiter; {
	case delimiter == "tab":
		o.Delim = '\t'
	case len(delimiter) > 1 || strings.ContainsAny(delimiter, "\"\r\n"):
		return o, usage.Errorf("--delimiter %q cannot be one; give one character such as ;, or tab", delimiter)
	case delimiter != "":
		o.Delim = delimiter[0]
	}
	if !slices.Contains([]string{"", ".", ","}, f.decimal) {
		return o, usage.Errorf("--decimal %q is neither . nor ,", f.decimal)
	} else if f.decimal != "" {
		o.Decimal = f.decimal[0]
	}
	switch {
	case f.quote != `"` && f.quote != "none":
		return o, usage.Errorf(`--quote %q is neither " nor none`, f.quote)
	case !slices.Contains([]string{"", "earlier", "later"}, f.clockChange):
		return o, usage.Errorf("--clock-change %q is neither earlier nor later", f.clockChange)
	case f.skip < 0:
		return o, usage.Errorf("--skip %d: give at least 0", f.skip)
	case len(f.comment) > 1:
		return o, usage.Errorf("--comment %q cannot begin a comment; give one character such as #", f.comment)
	case f.comment != "":
		o.Comment = f.comment[0]
	}
	var err error
	if o.Location, err = time.LoadLocation(f.zone); err != nil {
		return o, usage.Errorf("--zone %s: there is no such time zone; give one such as Europe/Paris", f.zone)
	}
	return o, nil
}

// asked is the request of the flags. All its errors are usage errors.
func (f *tableFlags) asked(cmd *cobra.Command, file string) (q tables.Request, err error) {
	q.Seed = f.seed
	if f.json == "-" {
		return q, usage.Errorf("--json -: standard output has the summary; name a file")
	}
	if q.Source, err = f.source(file); err != nil {
		return q, err
	}
	q.Fit, err = f.fit()
	return q, err
}

// prepared prepares the answer to a question about a table. It says so if that takes longer than a second.
func prepared[Q, J any](file string, prepare func(Q) (J, error), q Q) (J, error) {
	bytes := int64(0)
	files, _ := table.Files(file) // prepare reports an error
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	switch { // of a small table a collection after each few MB would take half of the time
	case os.Getenv("GOGC") != "":
	case bytes < 4e6:
		debug.SetGCPercent(400)
	default:
		debug.SetGCPercent(30) // columns live long: a third less memory for 2% more processor time
	}
	defer time.AfterFunc(time.Second, func() {
		fmt.Fprintf(os.Stderr, "reading %s, %.0f MB\n", file, float64(bytes)/1e6)
	}).Stop()
	return prepare(q)
}

// pageResult is the answer of a command that writes a page.
type pageResult interface {
	fmt.Stringer
	WritePage(dir string) error
}

// page computes an answer, and writes its page to the folder, its JSON and its summary.
func (f *tableFlags) page(cmd *cobra.Command, file, dir string, compute func() (pageResult, error)) error {
	if dir == "" {
		return usage.Errorf("--out is empty; name a folder for the page")
	} else if err := usage.Folder(dir); err != nil {
		return err
	}
	index := filepath.Join(dir, figures.PageFile)
	mark := fmt.Sprintf(`<meta name="generator" content="tvps %s">`, cmd.Name())
	if err := usage.KeepPage(index, "was not written by `"+cmd.CommandPath()+"`", mark); err != nil {
		return err
	}
	if err := checkOutputs(file, f.json, index); err != nil {
		return err
	}
	r, err := compute()
	if err != nil {
		return mistake(err)
	}
	// The answer first: a full disk does not lose it.
	if _, err := fmt.Fprint(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	if err := writeJSON(f.json, r); err != nil {
		return err
	}
	if err := r.WritePage(dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Page: %s\n", index)
	return err
}

// fit are the settings of g, with the limit of updates in each training.
func (f *tableFlags) fit() (crossfit.Config, error) {
	c := crossfit.DefaultConfig()
	if f.updates < 0 {
		return c, usage.Errorf("--updates %d: give at least 0", f.updates)
	}
	for i := range c.Candidates {
		if f.updates > 0 {
			c.Candidates[i].Updates = min(c.Candidates[i].Updates, f.updates)
		}
	}
	return c, nil
}

// mistake marks an error that the user can mend in the table or the request as a usage error.
func mistake(err error) error {
	if errors.As(err, new(*table.Error)) {
		return usage.Error(err)
	}
	return err
}

// checkOutputs returns an error if one of the files cannot be written: it is a folder, the table itself or in its
// folder, or named twice, or its folder cannot be written. An empty name is none.
func checkOutputs(file string, paths ...string) error {
	files, err := table.Files(file)
	if err != nil {
		return err
	}
	var seen []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		pattern, _ := filepath.Abs(file)
		target, _ := filepath.Abs(path)
		matches, _ := filepath.Match(pattern, target)
		isPart := matches || strings.HasPrefix(target, pattern+string(filepath.Separator)) ||
			slices.ContainsFunc(files, func(part string) bool {
				of, missing := os.Stat(part)
				return err == nil && missing == nil && os.SameFile(info, of)
			})
		switch {
		case slices.Contains(seen, filepath.Clean(path)):
			return usage.Errorf("%s is named for two outputs; name another file for one of them", path)
		case err == nil && info.IsDir():
			return usage.File(path)
		case isPart:
			return usage.Errorf("the output %s is the table itself, or would be one of its files; name another file", path)
		}
		seen = append(seen, filepath.Clean(path))
		if err := artifact.TryCreate(path); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	return nil
}

// backTest runs a back test with the store in the folder results.
func backTest(ctx context.Context, p *backtest.Job, results string, workers int) (*backtest.Result, error) {
	store, err := runs.Open(results)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, backtest.Host{Store: store, Workers: workers, Log: os.Stderr})
}

// writeJSON writes a value to a file in one atomic step; an empty name is none.
func writeJSON(path string, value any) error {
	if path == "" {
		return nil
	}
	return lab.WriteJSON(path, value)
}
