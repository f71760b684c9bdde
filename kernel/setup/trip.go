package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tvps/data/artifact"
	"tvps/kernel/jupyter"
)

// trip is the cell of the round trip: it imports GoMLX and what all notebooks import.
const trip = `import (
	"github.com/gomlx/gomlx/core/graph"
	"tvps/replicate/notebook"
	"tvps/replicate/paper"
)

%%
var _ *graph.Node
var _ notebook.Options
fmt.Println("figures:", len(paper.Figures()))
`

// runTrip starts the kernel, runs a cell in it and shuts it down.
func runTrip(ctx context.Context, l Layout) error {
	spec, err := jupyter.Read(kernelName, l.specDir())
	if err != nil {
		return fmt.Errorf("cannot start a kernel: %w", err)
	}
	dir, remove, err := artifact.TempFolder("tvps first cell ") // a folder outside the module
	if err != nil {
		return err
	}
	defer func() { _ = remove() }()
	kernel, err := jupyter.Start(ctx, spec, jupyter.Options{Dir: dir})
	if err != nil {
		return fmt.Errorf("the kernel does not start: %w", err)
	}
	printed, err := runCell(ctx, kernel, trip)
	if err == nil && !strings.HasPrefix(printed, "figures: ") {
		err = fmt.Errorf("the cell printed %q", printed)
	}
	return errors.Join(err, kernel.Close())
}

// runCell runs a cell and returns its stdout. It fails if the cell fails.
func runCell(ctx context.Context, kernel *jupyter.Kernel, code string) (string, error) {
	var stdout, stderr strings.Builder
	reply, err := kernel.Execute(ctx, code, func(o jupyter.Output) {
		switch o.Name {
		case "stdout":
			stdout.WriteString(o.Text)
		case "stderr":
			stderr.WriteString(o.Text)
		}
	})
	if err != nil {
		return "", fmt.Errorf("the cell did not complete: %w", err)
	}
	if reply.Status != "ok" {
		words := strings.Fields(reply.Ename + ": " + reply.Evalue + " " + stderr.String()) // on one line
		return "", fmt.Errorf("the cell failed: %s", strings.Join(words, " "))
	}
	return stdout.String(), nil
}
