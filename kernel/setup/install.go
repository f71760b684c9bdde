package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/kernel/nbformat"
)

// InstallOptions configures Install. Out and Log are required.
type InstallOptions struct {
	Out io.Writer // gets the result
	Log io.Writer // gets progress and warnings

	parts *parts // nil: realParts; tests replace them
}

// parts are the steps of an installation that are slow or need the network.
type parts struct {
	install func(ctx context.Context, p programs) error
	compile func(ctx context.Context, root string) error
	plugin  func(ctx context.Context, log io.Writer) error
	first   func(ctx context.Context, l Layout) error // runs a cell
}

var realParts = parts{install: installPrograms, compile: compile, plugin: fetchPlugin, first: runTrip}

// firstTime says what a first installation takes, with empty caches of Go and of this project.
const firstTime = "a first installation takes about 5 minutes on two cores and 1.4 GB: 0.7 GB of Go modules, " +
	"0.25 GB of the XLA plugin, and compiled packages; a later one takes seconds"

// Install installs the kernel, or repairs and updates an installation. A lock makes parallel calls wait for each
// other. The kernelspec is written last: after an interruption Jupyter shows no kernel or the previous one, and the
// next call completes the installation.
//
// A missing plugin is only a warning: cells then run on the slow Go backend. If a first cell fails, the kernel stays,
// and the error says why.
func Install(ctx context.Context, l Layout, o InstallOptions) error {
	if o.parts == nil {
		o.parts = &realParts
	}
	unlock, err := artifact.Lock(ctx, l.lock(), "the notebook kernel", o.Log)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := findGo(ctx, l.Root)
	if err != nil {
		return err
	}
	if _, err := os.Stat(l.specFile()); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(o.Log, firstTime)
	}
	fmt.Fprintln(o.Log, "step 1 of 4: programs (minutes the first time)")
	if err := o.parts.install(ctx, l.programs()); err != nil {
		return err
	}
	if err := o.parts.install(ctx, l.gopls()); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(o.Log, "warning: cells are not completed, because gopls cannot be built: %v\n", err)
	}
	fmt.Fprintln(o.Log, "step 2 of 4: Go modules, and the packages that notebooks import (minutes the first time)")
	if err := o.parts.compile(ctx, l.Root); err != nil {
		return fmt.Errorf("the packages that notebooks import do not compile: %w", err)
	}
	fmt.Fprintln(o.Log, "step 3 of 4: the XLA plugin")
	if err := o.parts.plugin(ctx, o.Log); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(o.Log, "warning: %v\n", err)
	}
	if err := nbformat.WriteFile(l.servedScript(), figures.ECharts); err != nil {
		return err
	}
	if err := nbformat.WriteFile(l.goScript(), []byte(goScript(t))); err != nil {
		return err
	}
	if err := os.Chmod(l.goScript(), 0o755); err != nil {
		return err
	}
	if err := write(newSpec(l, t), l); err != nil {
		return err
	}
	fmt.Fprintln(o.Log, "step 4 of 4: a first cell, which fills the build cache for those to come")
	if err := o.parts.first(ctx, l); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the kernel is installed (if a program is damaged, remove %s and install again), "+
			"but a first cell fails: %w", l.bin(), err)
	}
	_, err = fmt.Fprintf(o.Out, "Installed the kernel %q in %s, for the checkout %s.\n", "Go (tvps)", l.specDir(), l.Root)
	return err
}

// goScript is the program go of cells. GoNB calls `go get` before each cell, which does nothing without a network. A
// build for a cell is short: without garbage collection it takes a fifth less.
func goScript(t toolchain) string {
	return fmt.Sprintf(`#!/bin/sh
case "$*:$GOPROXY" in
get:off) exit 0 ;;
build*) export GOGC="${GOGC:-off}" GOMEMLIMIT="${GOMEMLIMIT:-512MiB}" ;;
esac
exec '%s' "$@"
`, strings.ReplaceAll(filepath.Join(t.root, "bin", "go"), "'", `'\''`))
}

// fetchPlugin downloads the XLA plugin if it is missing, so that cells need no network for it.
func fetchPlugin(ctx context.Context, log io.Writer) error {
	b, err := backend.Open(ctx, backend.Default, backend.Options{Log: log})
	if err != nil {
		return err
	}
	return b.Finalize()
}
