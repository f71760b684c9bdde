package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tvps/data/clear"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// noClear is printed if there is no data set to check.
const noClear = `CLEAR-10 was not found: TVPS_CLEAR is not set, and there is no %s.
Without it, figures use a stand-in instead, and say so.
To get it: CLEAR-10, feature archives of the CLEAR authors; see the documentation of data/clear
(go doc ./data/clear). Download clear10-public.zip or clear10-train.zip, leave it zipped, then
  go run ./replicate data clear --from /path/to/clear10-public.zip
`

func clearCommand() *cobra.Command {
	var from string
	var o clear.Options
	cmd := &cobra.Command{
		Use:   "clear",
		Short: "Check a download of the CLEAR-10 features and say how to use it",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" && cmd.Flags().Changed("from") {
				return usage.Errorf("--from is empty; name a folder or a zip")
			}
			return checkClear(cmd, from, o)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "folder or zip to check (default: TVPS_CLEAR, or clear in the cache)")
	cmd.Flags().StringVar(&o.Type, "type", clear.DefaultType, "feature type: the network that computed the features")
	return cmd
}

// checkClear reads every file that figures would use and prints a summary.
func checkClear(cmd *cobra.Command, from string, o clear.Options) error {
	path, out := from, cmd.OutOrStdout()
	if path == "" {
		found, err := clear.Find()
		if err != nil {
			return err
		}
		if found == "" {
			cache, err := clear.CacheDir()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, noClear, cache)
			return err
		}
		path = found
	}
	report, err := clear.Check(cmd.Context(), path, o)
	if errors.As(err, new(*clear.UnknownTypeError)) {
		return usage.Error(err)
	}
	if report != nil {
		if err := printClear(out, report); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	use := fmt.Sprintf("All files that are used are valid. Figures use them with TVPS_CLEAR=%s\n", path)
	if from == "" {
		use = "All files that are used are valid. Figures use them as they are.\n"
	}
	_, err = io.WriteString(out, use)
	return err
}

// printClear prints the contents of a data set: classes, buckets, missing and unused files, hash.
func printClear(out io.Writer, r *clear.Report) error {
	lines := []string{
		fmt.Sprintf("%s, layout %s", r.Path, r.Layout),
		fmt.Sprintf("feature type %s (there are: %s)", r.Type, strings.Join(r.Types, ", ")),
		"classes 0 to 9: " + strings.Join(r.Classes, ", "),
		"buckets " + clear.Numbers(r.Buckets),
	}
	if !r.Named {
		lines[2] += " (sorted: there is no class_names.txt)"
	}
	if len(r.LeftOut) > 0 {
		lines[3] += ", not used: " + clear.Numbers(r.LeftOut)
	}
	if r.Test {
		lines = append(lines, "the part test is not used")
	}
	if len(r.Missing) > 0 {
		lines = append(lines, fmt.Sprintf("files missing: %d, first %s", len(r.Missing), r.Missing[0]))
	}
	if len(r.Surplus) > 0 {
		lines = append(lines, fmt.Sprintf("files that features.json does not name, not used: %d, first %s",
			len(r.Surplus), r.Surplus[0]))
	}
	if r.SHA256 != "" {
		lines = append(lines, "SHA-256 of the contents "+r.SHA256, "figures will say: "+r.Note())
		if !r.Published() {
			const note = "This is not the published data set, which has %d images of each class in each bucket."
			lines = append(lines, fmt.Sprintf(note, clear.PerBucket))
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
