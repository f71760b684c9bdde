package drift

import (
	"context"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
)

// measurement is what a Result is computed from.
type measurement struct {
	*tables.Sample
	q       tables.Request
	ctx     context.Context
	finding *tables.Finding
	g       *crossfit.Fitted
	notes   []string
}
