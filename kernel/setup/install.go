package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tvps/data/artifact"
	"tvps/data/echarts"
	"tvps/gomlx_models/backend"
)

// InstallOptions adjusts Install.
type InstallOptions struct {
	ECharts string    // the user's own echarts.min.js; "" for the pinned one
	Out     io.Writer // what was done and what comes next
	Log     io.Writer // progress and warnings

	parts *parts // tests put others in place
}

// parts are the slow parts of an installation, and those that need the network.
type parts struct {
	build   func(ctx context.Context, root, dir string) error // builds the tools into dir
	current func(t toolchain, l Layout, p tool) string        // toolchain.problem
	compile func(ctx context.Context, root string) error
	echarts func(ctx context.Context, dst string, o echarts.Options) error
	plugin  func(ctx context.Context, log io.Writer) error
}

var realParts = parts{build: buildTools, current: toolchain.problem, compile: compile, echarts: echarts.Ensure, plugin: fetchPlugin}

// Install installs the kernel, or mends and updates what is there. Another Install at the
// same time waits. The kernelspec comes last, so an installation that was broken off shows
// no kernel in Jupyter, or the one from before; calling Install again goes on.
//
// A plugin or an ECharts that cannot be had is a warning: cells then run on the slow Go
// backend, and show static pictures.
func Install(ctx context.Context, l Layout, o InstallOptions) error {
	if o.parts == nil {
		o.parts = &realParts
	}
	unlock, err := artifact.Lock(ctx, l.lock(), "the notebook kernel", o.Log)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := readSpec(l); errors.Is(err, errForeign) {
		return err
	}
	t, err := findGo(ctx, l.Root)
	if err != nil {
		return err
	}
	if err := installTools(ctx, l, t, o); err != nil {
		return err
	}
	fmt.Fprintln(o.Log, "compiling the packages that notebooks import (a minute or two the first time)")
	if err := o.parts.compile(ctx, l.Root); err != nil {
		return fmt.Errorf("no cell would compile: %w", err)
	}
	if err := o.parts.plugin(ctx, o.Log); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(o.Log, "warning: %v\n", err)
	}
	if err := installECharts(ctx, l, o); err != nil {
		return err
	}
	if err := newSpec(l, t).write(l); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "Installed the kernel %q in %s, for the checkout %s.\n", "Go (tvps)", l.specDir(), l.Root)
	return err
}

// installTools builds the tools unless those that are there are the right ones.
func installTools(ctx context.Context, l Layout, t toolchain, o InstallOptions) error {
	stale := false
	for _, p := range tools {
		if o.parts.current(t, l, p) != "" {
			stale = true
		}
	}
	if !stale {
		return nil
	}
	fmt.Fprintf(o.Log, "building gonb %s and goimports %s with %s\n", t.wanted[tools[0].module], t.wanted[tools[1].module], t.version)
	return replaceTools(ctx, l, o.parts.build)
}

// installECharts puts the script where cells find it (TVPS_ECHARTS) and where every
// JupyterLab serves it. Only the user's own file must work.
func installECharts(ctx context.Context, l Layout, o InstallOptions) error {
	err := o.parts.echarts(ctx, l.script(), echarts.Options{File: o.ECharts, Log: o.Log})
	switch {
	case err != nil && (ctx.Err() != nil || o.ECharts != ""):
		return err
	case err != nil:
		fmt.Fprintf(o.Log, "warning: charts need the network: %v; get the file elsewhere and give it with --echarts\n", err)
		return nil
	}
	text, err := os.ReadFile(l.script())
	if err != nil {
		return err
	}
	return echarts.Write(l.servedScript(), text)
}

// fetchPlugin makes sure that an XLA plugin is there, so that the first cell that
// computes needs no network.
func fetchPlugin(ctx context.Context, log io.Writer) error {
	b, err := backend.Open(ctx, backend.Default, backend.Options{Log: log})
	if err != nil {
		return err
	}
	return b.Finalize()
}
