package lab

import (
	"cmp"
	"context"
	"slices"

	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// execute computes missing runs and calls ended as runs.Options says. Failed runs are in the report; an interruption is
// an error.
func (l *Lab) execute(ctx context.Context, jobs []runs.Job, workers int,
	ended func(runs.Report) string) (runs.Report, error) {
	o := runs.Options{Workers: workers, Out: l.Stderr, Provenance: l.Provenance(), Ended: ended}
	report, err := runs.Execute(ctx, l.Store, jobs, o)
	if err == nil && report.Unfinished > 0 {
		err = report.Err()
	}
	return report, err
}

// ranked lists the runs of all panels, those of panels with less work first. With seedsFirst the first seeds of all
// panels come before any second seed, so that the whole figure can be drawn early; otherwise a panel is completed
// before the next one begins.
func ranked(plan []claims.Panel, seedsFirst bool) []runs.Job {
	work := func(p claims.Panel) (sum float64) {
		for _, job := range p.Jobs {
			sum += job.Work(job.Steps...)
		}
		return sum
	}
	panels := slices.SortedStableFunc(slices.Values(plan), func(a, b claims.Panel) int {
		return cmp.Compare(work(a), work(b))
	})
	mostSeeds := 0
	for _, p := range panels {
		mostSeeds = max(mostSeeds, len(p.Seeds))
	}
	var jobs []runs.Job
	for i, p := range panels {
		for _, wanted := range p.Jobs {
			job, seed := wanted.Job, slices.Index(p.Seeds, wanted.Spec.Seed)
			job.Rank = i*mostSeeds + seed
			if seedsFirst {
				job.Rank = seed*len(panels) + i
			}
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Work computes the missing runs of planned panels, the longest first, and draws nothing. It is for many processes, on
// one or more machines, that share a folder of runs: each takes the next run that no other computes, until none is
// missing, and waits for the runs of others at the end, to take over if one dies. Failed runs are in the report.
func (l *Lab) Work(ctx context.Context, panels []claims.Panel, workers int) (runs.Report, error) {
	var jobs []runs.Job
	for _, p := range panels {
		for _, wanted := range p.Jobs {
			jobs = append(jobs, wanted.Job)
		}
	}
	return l.execute(ctx, jobs, workers, nil)
}

// OfImages tells whether the runs of a panel train or compare networks of images, which is work for a GPU. Errors:
// impossible settings.
func OfImages(p claims.Panel) (bool, error) {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	return slices.ContainsFunc(outlines, func(o experiment.Outline) bool { return o.Images }), err
}
