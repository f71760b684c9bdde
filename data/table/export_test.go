package table

import "testing"

// AllowOneRow reads tables of one row until the test ends: public Parquet files often have just one.
func AllowOneRow(t *testing.T) {
	leastRows = 1
	t.Cleanup(func() { leastRows = 2 })
}

// Limits bounds what a file may use.
type Limits = limits

// Limited are options with other limits.
func Limited(o Options, change func(l *Limits)) Options {
	in := &input{}
	_ = in.prepare()
	change(in.limits)
	o.limits = in.limits
	return o
}
