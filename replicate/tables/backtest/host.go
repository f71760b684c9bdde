package backtest

import (
	"io"

	"tvps/gomlx_models/backend"
	"tvps/replicate/runs"

	"github.com/gomlx/compute"
)

// Host is what a back test runs on.
type Host struct {
	Backend    compute.Backend
	Store      *runs.Store
	Provenance runs.Provenance
	Workers    int          // models that train at the same time
	Log        io.Writer    // progress
	Verify     func() error // that of runs.Options
}

// OpenHost returns a host with the store in the folder results.
func OpenHost(b *backend.Backend, results string, workers int, log io.Writer) (Host, error) {
	store, err := runs.Open(results)
	if err != nil {
		return Host{}, err
	}
	versions := map[string]string{"plugin": b.Info.PluginVersion, "plugin-sha256": b.Info.PluginSHA256}
	return Host{Backend: b.Backend, Store: store, Workers: workers, Log: log, Verify: b.VerifyPlugin,
		Provenance: runs.NewProvenance(b.Info.Name, versions)}, nil
}
