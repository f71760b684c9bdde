package table

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
