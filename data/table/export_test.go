package table

import "testing"

// AllowOneRow reads tables of one row until the test ends: public Parquet files often have just one.
func AllowOneRow(t *testing.T) {
	leastRows = 1
	t.Cleanup(func() { leastRows = 2 })
}
