package claims

import (
	"os"
	"testing"

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
	if p.Settings, err = supervised.At(p.Scenario, experiment.Tiny); err != nil {
		t.Fatal(err)
	}
	return p
}

// nightly leaves a simulation to `.ci/run nightly`.
func nightly(t *testing.T) {
	t.Helper()
	if os.Getenv("TVPS_NIGHTLY") == "" {
		t.Skip("a simulation of seconds: TVPS_NIGHTLY=1 runs it")
	}
}
