package main

import (
	"fmt"
	"os"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check Go, backend and plugin, GPU, data, cache and disk; exit 1 if fig1 could not run",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := append(backend.Diagnose(cmd.Context(), name),
				diagnoseData(), diagnoseClear(), diagnoseCheckpoint())
			failed, err := backend.PrintChecks(cmd.OutOrStdout(), checks)
			if err != nil {
				return err
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err() // checks that were cancelled say nothing
			}
			if failed > 0 {
				return fmt.Errorf("checks failed: %d; fig1 cannot run until they pass", failed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "backend", "", "backend to check: "+backendNames)
	return cmd
}

// outcome is a check that fails with err, or finds detail.
func outcome(name string, err error, fix, detail string) backend.Check {
	if err != nil {
		return backend.Check{Name: name, Status: backend.Fail, Detail: err.Error(), Fix: fix}
	}
	return backend.Check{Name: name, Status: backend.OK, Detail: detail}
}

// diagnoseData says which images fig1 would use.
func diagnoseData() backend.Check {
	dir, err := cifar10.Find()
	if err != nil {
		return outcome("data", err, "correct or unset TVPS_DATA, or run `go run ./replicate data cifar10`", "")
	}
	if dir == "" {
		return backend.Check{Name: "data", Status: backend.Warn,
			Detail: "full CIFAR-10 not found: the embedded sample of real images is used",
			Fix:    "for the full set, `go run ./replicate data cifar10`, or set TVPS_DATA to its folder"}
	}
	return outcome("data", cifar10.Verify(dir), "download the data again: `go run ./replicate data cifar10`",
		"full CIFAR-10 in "+dir+", checksums match")
}

// diagnoseClear says whether CLEAR's features are found, or the stand-in is used.
func diagnoseClear() backend.Check {
	const fix = "set TVPS_CLEAR to the features; data/README.md says where they are"
	path, err := clear.Find()
	if err == nil && path == "" {
		return backend.Check{Name: "CLEAR", Status: backend.Warn, Detail: "not found: a stand-in, not CLEAR, is used", Fix: fix}
	}
	if err == nil {
		err = clear.Check(path)
	}
	return outcome("CLEAR", err, fix, "features in "+path)
}

// diagnoseCheckpoint names the embedded checkpoint, which the scales below the paper's use.
func diagnoseCheckpoint() backend.Check {
	c, hash, err := resnet.Load("", 16, 0)
	if err != nil {
		return outcome("checkpoint", err, "", "")
	}
	return outcome("checkpoint", nil, "", fmt.Sprintf("ResNet-18 of width 16, split 0, test accuracy %s, hash %s",
		c.Metadata["test-accuracy"], hash))
}

func dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Download and check data sets",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return usage.Choose(cmd, "data set", args) },
	}
	cmd.AddCommand(&cobra.Command{
		Annotations: map[string]string{usage.Continues: "true"},
		Use:         "cifar10",
		Short:       "Download the official CIFAR-10 archive (170 MB) to the cache, or check an existing copy",
		Args:        usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := cifar10.Find()
			if err != nil {
				return err
			}
			own := os.Getenv("TVPS_DATA") != "" // the user's folder is checked, never replaced
			if dir == "" || !own && cifar10.Verify(dir) != nil {
				if dir, err = cifar10.Download(cmd.Context(), os.Stderr); err != nil {
					return err
				}
			}
			if err := cifar10.Verify(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Full CIFAR-10 in %s, checksums match.\n", dir)
			return err
		},
	})
	return cmd
}
