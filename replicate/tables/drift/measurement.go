package drift

import (
	"context"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"github.com/gomlx/compute"
)

// measurement is what a Result is computed from.
type measurement struct {
	*tables.Sample
	q       tables.Request
	ctx     context.Context
	backend compute.Backend
	finding *tables.Finding
	g       *crossfit.Fitted
	notes   []string
}
