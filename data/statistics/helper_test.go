package statistics

import (
	"math"
	"testing"
)

// near fails the test unless got is want to within 1e-4, the precision of printed
// tables of Student's t.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-4 || math.IsNaN(got) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
