package main

import (
	"path/filepath"

	"tvps/ci/research/natural/charts"
	"tvps/data/statistics"
	"tvps/data/streams"
	"tvps/figures"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func boundCommand() *cobra.Command {
	out := filepath.Join("figures", "gallery", "archive")
	cmd := &cobra.Command{
		Use:   "bound",
		Short: "Draw the paper's bound on the risk under drift, on the Gaussian",
		Args:  usage.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return charts.Draw(filepath.Join(out, "bound.svg"), boundChart(streams.PaperGaussian()))
		},
	}
	cmd.Flags().StringVar(&out, "out", out, "output folder")
	return cmd
}

// boundChart compares the error of the best classifier of step 50, at which the mean turns, on the samples of later
// steps with the largest that Eq. (tv) in Section 2.1 of the paper allows.
func boundChart(stream streams.Gaussian) figures.Chart {
	const now, ahead, seeds = 50, 30, 8
	line := func(label string, look int) figures.Series {
		return figures.Series{Name: label, Label: label}.Styled(look)
	}
	measured, risk := line("measured error, 8 seeds", 0), line("risk", 1)
	tv, bound := line("total variation", 2), line("bound: twice that", 3)
	threshold := stream.Mean(now)
	for dt := range ahead + 1 {
		var grid [][]float64
		for seed := range int64(seeds) {
			grid = append(grid, []float64{errorOf(stream, seed, threshold, now+dt)})
		}
		e := statistics.OverSeedsAndSteps(grid, 0)(statistics.Level)
		x, distance := float64(dt), stream.TV(now, now+dt)
		measured.Points = append(measured.Points, figures.Point{X: x, Mean: e.Mean, Low: e.Low, High: e.High, N: seeds})
		risk.Points = append(risk.Points, figures.Exactly(x, distance/2))
		tv.Points = append(tv.Points, figures.Exactly(x, distance))
		bound.Points = append(bound.Points, figures.Exactly(x, min(1, 2*distance)))
	}
	return figures.Chart{Key: "a", Title: "The bound of Section 2.1 on the drifting Gaussian", XLabel: "steps ahead",
		YLabel: "risk at T + dt, at most 1", YRange: &[2]float64{0, 1}, Series: []figures.Series{bound, tv, measured, risk}}
}

// errorOf is the share of the test samples of step t that the classifier with a threshold gets wrong.
func errorOf(stream streams.Gaussian, seed int64, threshold float64, t int) float64 {
	x, y := stream.Draw(seed, "test", t)
	wrong := 0
	for i := range x {
		if (float64(x[i]) > threshold) != (y[i] == 1) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(x))
}
