// Package paper declares the paper's figures: one file and one function for each, with what it shows, what the paper
// claims, the command that makes it, its result and its time. It is data only: the declarations are passed to package
// lab, which plans, computes, judges and draws.
//
// INTERPRETATIONS.md numbers the points that the paper leaves open; ci/research/study compares their other readings.
package paper

import (
	"cmp"
	"fmt"
	"strings"

	"tvps/replicate/experiment"
)

// Figure declares a figure of the paper.
type Figure struct {
	Number         int
	Title, Caption string
	Time           string                      // time at the small scale on two cores, as "28 min"
	Shares         string                      // figures with which it shares runs; Time is measured after them
	Seeds          string                      // as "0,1,2" or "0-7"; DefaultSeeds if empty
	SeedsAt        map[experiment.Scale]string // seeds of a scale, instead of Seeds
	Panels         []Panel
	Claims         []Claim
}

// DefaultSeeds are those of the paper's Table 2. Those of a scale in seedsAt replace them.
const DefaultSeeds = "0,1,2"

// seedsAt are the declared seeds of images at the medium scale (figures/gallery/archive/images-declared.md).
var seedsAt = map[experiment.Scale]string{experiment.Medium: "0-3"}

// Data names the panel's data in a sentence; empty for other data than those of the supervised figures of the paper.
func (p Panel) Data() string {
	switch {
	case p.Scenario == "gaussian":
		return "the Gaussian"
	case p.Scenario == "clear":
		return "CLEAR"
	case strings.HasPrefix(p.Scenario, "cifar10"):
		return "CIFAR-10"
	}
	return ""
}

// Name returns the stem of the figure's files and folders, as "fig01".
func (f Figure) Name() string { return fmt.Sprintf("fig%02d", f.Number) }

// Command returns the subcommand that makes the figure, as "fig1".
func (f Figure) Command() string { return fmt.Sprint("fig", f.Number) }

// SeedsFor returns the figure's seeds at a scale.
func (f Figure) SeedsFor(scale experiment.Scale) string {
	return cmp.Or(f.SeedsAt[scale], f.Seeds, seedsAt[scale], DefaultSeeds)
}

// Panel declares one chart: a scenario, its settings and the series that it compares.
type Panel struct {
	Key, Title, Scenario string
	Set                  []string    // settings that override those of the scale, as n=50
	Series               []string    // names of learners; the others are compared with the first
	Measure              string      // what the runs report; the protocol's default (accuracy, return) if empty
	Metric               string      // which reported metric is shown; the one with the measure's name if empty
	YLabel               string      // the metric's meaning; not needed for accuracy
	YRange               *[2]float64 // limits of the y axis; nil fits them to the data
	Absolute             bool        // draw the values, not the differences to the first series
	MeanLines            []string    // series whose mean is a dashed line in the paper
	References           []string    // series that do not learn, as horizontal lines; shown with any choice of learners
	Single               string      // of References, the best policy that does the same in every task; empty for none
	Noted                []Noted     // reported metrics that are told in notes instead of drawn
	Spans                []Span      // of steps, for each of which the learners are compared
	Take                 int         // how many of the seeds are used, the first ones; 0 for all
	Judged               []Sample    // by which its claims are judged, see Sample; at most one of a scale for all series
}

// Noted is a metric that notes tell.
type Noted struct{ Name, Meaning string }

// Span is a range of steps, with both ends.
type Span struct{ From, To int }

// Figures lists all figures by number.
func Figures() []Figure {
	return []Figure{
		Fig1(), Fig2(), Fig3(), Fig4(), Fig5(), Fig6(), Fig7(), Fig8(), Fig9(), Fig10(), Fig11(), Fig12(), Fig13(), Fig14(),
	}
}

// Bands ends the captions.
const Bands = "Lines are means over seeds, bands 95% intervals (Student's t over seeds)."
