package propensity

import (
	"math"
	"testing"

	"tvps/ci/demand"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// byFormula is the code of a time between 0 and last, from the formulas of the documentation.
func byFormula(c Config, t, last float64) (out []float64) {
	pair := func(phase float64) { out = append(out, math.Sin(phase), math.Cos(phase)) }
	switch c.Time {
	case TimeScalar:
		return []float64{2*t/last - 1}
	case TimeFourier:
		for k := 1; k <= c.Frequencies; k++ {
			pair(math.Pi * float64(k) * t / last)
		}
	case TimePeriods:
		for k := range c.Frequencies {
			pair(2 * math.Pi * t / math.Pow(2, 2+10*float64(k)/float64(c.Frequencies-1)))
		}
	}
	return out
}

// TestFixedEncodings compares the codes of continuous times, and those of the table of
// fitted times, with their formulas.
func TestFixedEncodings(t *testing.T) {
	for _, time := range ContinuousEncodings() {
		cfg := Config{Time: time, Frequencies: 4}
		exec, err := NewExec(open(t, ""), func(in []*Node) []*Node { return []*Node{Continuous(in[0], in[1]).code(cfg)} })
		demand.NoError(t, err)
		defer exec.Finalize()
		for _, last := range []float32{1, 40, 2999} {
			ts := []float32{0, last / 2, last}
			out, err := exec.Call(
				tensors.FromFlatDataAndDimensions(ts, 1, 3),
				tensors.FromFlatDataAndDimensions([]float32{last}, 1, 1),
			)
			demand.NoError(t, err)
			var want []float64
			for _, v := range ts {
				want = append(want, byFormula(cfg, float64(v), float64(last))...)
			}
			var table []float32
			for _, row := range encode(cfg, []float64{0, float64(last / 2), float64(last)}, 0, float64(last)) {
				table = append(table, row...)
			}
			for what, got := range map[string][]float32{"graph": tensors.MustCopyFlatData[float32](out[0]), "table": table} {
				if len(got) != len(want) || len(want) == 0 {
					t.Fatalf("%s, %s: %d values, not %d", time, what, len(got), len(want))
				}
				for i := range got {
					if math.Abs(float64(got[i])-want[i]) > 1e-3 {
						t.Errorf("%s, %s, last %v: value %d is %v, not %v", time, what, last, i, got[i], want[i])
					}
				}
			}
		}
	}
}
