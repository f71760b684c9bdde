package sac

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
)

// TestRecordBeforeAFit: omega is 1 then, and g has the loss of 0.
func TestRecordBeforeAFit(t *testing.T) {
	a := open(t, backend.Go, tiny(tinyOmega), 3, 4)
	fill(t, a, 9, 4)
	records, err := a.RecordOmega(0)
	demand.NoError(t, err)
	r := records[1]
	if r.Mean != 1 || r.Share != 1 || r.Spread != 0 || r.Loss != math.Ln2 || r.Last != -1 || len(r.Means) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestMeanAge(t *testing.T) {
	if meanAge(nil) != .5 || meanAge([]float64{3}) != .5 ||
		meanAge([]float64{0, 0, 2}) != 0 || meanAge([]float64{1, 1, 1}) != .5 {
		t.Error("mean ages of no, one, the latest and equal weights")
	}
}
