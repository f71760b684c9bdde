package claims

import (
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	_ "tvps/replicate/robots" // its learners have looks
	"tvps/replicate/supervised"
)

// fig14 is the panel of Figure 14 at the tiny scale, without runs.
func fig14(t *testing.T) Panel {
	t.Helper()
	p := Panel{Panel: paper.Fig14().Panels[0], Protocol: &supervised.Protocol, Seeds: firstSeeds(3)}
	var err error
	p.Settings, err = supervised.At(p.Scenario, experiment.Tiny)
	demand.NoError(t, err)
	return p
}

// noCommand is for claims of which no test reads a command.
func noCommand(string) string { return "" }
