package lab

import (
	"fmt"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/usage"
)

// Options are what a user chooses for a figure, or for all figures.
type Options struct {
	Scale      experiment.Scale
	Panels     []string // keys; empty for all
	Seeds      []int64  // empty for those of the figure
	Judged     bool     // the samples that are declared for claims, instead of the figure's seeds and the scale's stride
	Learners   []string // shown instead of the declared ones in open panels; empty for these; b.name for panel b alone
	Overrides  []string // name=value, or b.name=value for panel b alone
	AllFigures bool     // for several figures: each ignores options that its protocol does not have, and prints nothing
	Workers    int      // number of parallel runs
	Out        string   // folder for pages, pictures, tables and claims
	Compact    bool     // write one picture a panel and compressed tables, no page, as the gallery has them
}

// NamesSample tells whether the options name seeds or steps.
func (o Options) NamesSample() bool {
	return len(o.Seeds) > 0 || slices.ContainsFunc(o.Overrides, func(set string) bool {
		name, _, _ := strings.Cut(set, "=")
		return name == "stride" || strings.HasSuffix(name, ".stride")
	})
}

// checkJudged returns a usage error if the options name seeds or steps and ask for the declared ones.
func (o Options) checkJudged() error {
	if o.Judged && o.NamesSample() {
		return usage.Errorf("the seeds and steps by which claims are judged are declared: " +
			"leave out --judged, or --seeds and --stride")
	}
	return nil
}

// CheckOut returns an error if the output folder cannot be written; if it is a file, a usage error. It creates the
// folder.
func (o Options) CheckOut() error {
	if err := usage.Folder(o.Out); err != nil {
		return err
	}
	if err := artifact.TryWrite(o.Out); err != nil {
		return fmt.Errorf("cannot write the output folder %s (%w): make it writable or choose another", o.Out, err)
	}
	return nil
}

// Command returns the command line of a command with these options, without folders, which differ between machines.
func (o Options) Command(name string) string {
	return strings.Join(append([]string{"go run ./replicate", name, "--scale", string(o.Scale)}, o.Arguments()...), " ")
}

// Arguments are the flags that choose runs at a scale.
func (o Options) Arguments() []string {
	out := []string{}
	if o.Judged {
		out = append(out, "--judged")
	}
	if len(o.Seeds) > 0 {
		out = append(out, "--seeds", claims.FormatSeeds(o.Seeds, ","))
	}
	for _, override := range o.Overrides {
		out = append(out, "--set", override)
	}
	if len(o.Panels) > 0 {
		out = append(out, "--panel", strings.Join(o.Panels, ","))
	}
	if len(o.Learners) > 0 {
		out = append(out, "--series", strings.Join(o.Learners, ","))
	}
	return out
}

// pageCommand is the command that makes the figure with these options, or some of its panels. Options given for several
// figures may not all apply to this one: then it is the command for all figures.
func (o Options) pageCommand(f paper.Figure, panels ...string) string {
	if o.AllFigures && len(o.Overrides) > 0 {
		return o.Command("all")
	}
	if len(panels) > 0 {
		o.Panels = panels
	}
	return o.Command(f.Command())
}
