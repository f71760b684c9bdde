package lab

import (
	"cmp"
	"context"
	"slices"

	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Work computes the missing runs of planned panels, the longest first, and draws nothing. It is for many processes, on
// one or more machines, that share a folder of runs: each takes the next run that no other computes, until none is
// missing, and waits for the runs of others at the end, to take over if one dies.
func (l *Lab) Work(ctx context.Context, panels []claims.Panel, workers int) error {
	var jobs []runs.Job
	for _, p := range panels {
		for _, wanted := range p.Jobs {
			jobs = append(jobs, wanted.Job)
		}
	}
	report, err := l.execute(ctx, jobs, workers, nil)
	return cmp.Or(err, report.Err())
}

// OfImages tells whether the runs of a panel train or compare networks of images, which is work for a GPU. Errors:
// impossible settings.
func OfImages(p claims.Panel) (bool, error) {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	return slices.ContainsFunc(outlines, func(o experiment.Outline) bool { return o.Images }), err
}
