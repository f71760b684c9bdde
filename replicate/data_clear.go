package main

import (
	"fmt"
	"strings"

	"tvps/data/artifact"
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

func dataClearCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "clear",
		Short: "Check a download of the CLEAR-10 features and say how to use it",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" && cmd.Flags().Changed("from") {
				return usage.Errorf("--from is empty; name a folder or a zip")
			}
			return checkClear(cmd, from)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "folder or zip to check (default: TVPS_CLEAR, or clear in the cache)")
	return cmd
}

// checkClear reads every file that figures would use and prints a summary.
func checkClear(cmd *cobra.Command, from string) error {
	path, out := from, cmd.OutOrStdout()
	if path == "" {
		found, err := clear.Find()
		if err != nil {
			return err
		}
		if found == "" {
			place, err := artifact.CacheDir(clear.Folder)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, noClear, place)
			return err
		}
		path = found
	}
	set, err := clear.Load(cmd.Context(), path)
	if err != nil {
		return err
	}
	lines := []string{set.Path, "SHA-256 of the contents " + set.SHA256, "figures will say: " + set.Note()}
	if !set.Published() {
		const note = "This is not the published data set, which has %d images of each class in each bucket."
		lines = append(lines, fmt.Sprintf(note, clear.PerBucket))
	}
	use := "All files that are used are valid. Figures use them as they are."
	if from != "" {
		use = "All files that are used are valid. Figures use them with TVPS_CLEAR=" + path
	}
	_, err = fmt.Fprintln(out, strings.Join(append(lines, use), "\n"))
	return err
}
