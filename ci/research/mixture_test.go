package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/streams"
	"tvps/figures"

	"gonum.org/v1/gonum/floats"
)

// writeStream writes a stream's table: of every second seed the learners of the mixture are above the others by
// mean + apart points of accuracy, of the others by mean - apart; of two steps, which are 2 apart, the first is above
// these by .02 points.
func writeStream(t *testing.T, folder, table string, seeds int, mean, apart float64) {
	stem, panel := strings.TrimSuffix(table, ".csv"), table[6:7]
	var rows []figures.Row
	for _, series := range []string{"everything", "standard", "exact", "ours", "exact-mixture", "mixture"} {
		for seed := range seeds {
			for step := range 2 {
				points := 50 + 3*float64(seed)
				if strings.HasSuffix(series, "mixture") {
					points += mean + apart*float64(1-2*(seed%2)) + .02*float64(1-2*step)
				}
				rows = append(rows, figures.Row{Panel: panel, Series: series, Seed: int64(seed), T: 2*step + 1, Metric: "accuracy",
					Value: points / 100})
			}
		}
	}
	demand.NoError(t, figures.WriteTable(stem, rows, map[string]string{}, folder))
}

// TestMixture: intervals are mean ± q apart / √7 with q = 4.0293 at 99.5% and 2.3646 at 95%, Student's quantiles at 7
// degrees of freedom in printed tables, with four seeds apart / √3 and 7.4533 and 3.1824; verdicts are those declared.
// A step in two is left out: the squares of this half width and of 127.3213 · .02 / √2 add (1 degree of freedom).
func TestMixture(t *testing.T) {
	folder, want := t.TempDir(), [][]string{
		{"Gaussian", "+1.00 [+0.24, +1.76], better<br>all steps: [-0.95, +2.95], undecided", "+1.00 [+0.55, +1.45]"},
		{"periodic Gaussian", "-1.00 [-1.76, -0.24], worse<br>all steps: [-2.95, +0.95], undecided", "-1.00 [-1.45, -0.55]"},
		{"CIFAR-10a", "+0.05 [-0.10, +0.20], no difference<br>all steps: [-1.76, +1.86], undecided", "+0.05 [-0.04, +0.14]"},
		{"CIFAR-10b", "+0.05 [-0.25, +0.35], undecided<br>all steps: [-1.78, +1.88], undecided", "+0.05 [-0.13, +0.23]"},
		{"CIFAR-10c", "-0.10 [-0.18, -0.02], worse<br>all steps: [-1.90, +1.70], undecided", "-0.10 [-0.14, -0.06]"}, // though within the margin
		{"CIFAR-10b, 20 epochs, four seeds", "+0.10 [+0.06, +0.14], better<br>all steps: [-1.70, +1.90], undecided", "+0.10 [+0.08, +0.12]"},
	}
	for i, made := range [][2]float64{{1, .5}, {-1, .5}, {.05, .1}, {.05, .2}, {-.1, .05}, {.1, .01}} {
		s := mixtureStreams[i]
		writeStream(t, filepath.Join(folder, s.folder), s.table, s.seeds, made[0], made[1])
	}
	var out bytes.Buffer
	cmd := mixtureCommand()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--tables", folder, "--out", filepath.Join(folder, "mixture.svg")})
	demand.NoError(t, cmd.Execute())
	lines := strings.Split(out.String(), "\n")
	for i, w := range want {
		if line := fmt.Sprintf("| %s | %s | %s | %s | %s |", w[0], w[1], w[1], w[2], w[2]); lines[2+i] != line {
			t.Errorf("%s\nwant\n%s", lines[2+i], line)
		}
	}
	s := mixtureStreams[0]
	writeStream(t, filepath.Join(folder, s.folder), s.table, s.seeds-1, 1, .5)
	demand.Error(t, cmd.Execute(), s.folder, "7 seeds of 8")
}

// TestMixturePage: the page has the table and the picture of the runs next to it.
func TestMixturePage(t *testing.T) {
	pictures := t.TempDir()
	checkPage(t, mixtureCommand(), "mixture", filepath.Join(pictures, "mixture.svg"), pictures, "mixture.svg")
}

// TestMixtureShares: what the page says of exact weights on CIFAR-10b, whose labels alone move: the effective share of
// the samples, (E w)² / E w², and the total variation between the weighted labels and those of T, with the clip at 1.
func TestMixtureShares(t *testing.T) {
	prior := streams.CIFAR10b.Prior
	var share, clipped, apart [2]float64 // by the time of each sample, by the mixture
	steps := 0.
	for now := 8; now < 120; now += 11 {
		steps++
		mixture := make([]float64, streams.CIFAR10b.Classes)
		for s := range now + 1 {
			floats.AddScaled(mixture, 1/float64(now+1), prior(s))
		}
		for kind := range 2 {
			var first, second [2]float64 // moments of the weight, without a clip and with it
			weighted := make([]float64, len(mixture))
			for s := range now + 1 {
				for y, p := range prior(s) {
					w := prior(now)[y] / [2]float64{p, mixture[y]}[kind]
					for i, w := range []float64{w, min(1, w)} {
						first[i] += p * w
						second[i] += p * w * w
					}
					weighted[y] += p * min(1, w)
				}
			}
			share[kind] += first[0] * first[0] / second[0] / float64(now+1)
			clipped[kind] += first[1] * first[1] / second[1] / float64(now+1)
			floats.Scale(1/floats.Sum(weighted), weighted)
			apart[kind] += floats.Distance(weighted, prior(now), 1) / 2
		}
	}
	page := demand.Read(t, filepath.Join("..", "..", "figures", "gallery", "archive", "mixture", "README.md"))
	demand.Words(t, strings.Join(strings.Fields(string(page)), " "), fmt.Sprintf("from %.2f to %.2f, with the clip from %.2f to %.2f,",
		share[0]/steps, share[1]/steps, clipped[0]/steps, clipped[1]/steps),
		fmt.Sprintf("from those of T by %.2f instead of %.2f", apart[1]/steps, apart[0]/steps))
}
