package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// galleryFolder has the figures at the small scale that the repository contains: figures/gallery in $TVPS_ROOT.
func galleryFolder() string { return filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "gallery") }

// Found shows what the run in the repository's gallery measured for a figure, for robots that at the medium scale: the
// sentence that answers the figure's question, the pictures, and the paper's claims with their verdicts. It computes
// nothing. It ends the cell if the gallery cannot be read.
func Found(number int) { Exit(found(galleryFolder(), number)) }

func found(gallery string, number int) error {
	declared, _ := catalog.Figure(number)
	trained := filepath.Join(gallery, "medium")
	if _, err := os.Stat(filepath.Join(trained, declared.Name())); err == nil {
		gallery = trained
	}
	text, err := os.ReadFile(filepath.Join(gallery, "verify.json"))
	if err != nil {
		return fmt.Errorf("cannot read the results of the gallery: %w", err)
	}
	var v claims.Verification
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("the results of the gallery, %s, are damaged: %w", filepath.Join(gallery, "verify.json"), err)
	}
	at := slices.IndexFunc(v.Figures, func(s claims.State) bool { return s.Number == number })
	if at < 0 {
		return fmt.Errorf("the gallery has no figure %d", number)
	}
	state := v.Figures[at]
	fig := v.Shown(declared, state.Command)
	showAnswer(fig)
	for _, picture := range claims.Pictures(gallery, state.Name) {
		svg, err := os.ReadFile(filepath.Join(gallery, picture))
		if err != nil {
			return fmt.Errorf("cannot read a picture of the gallery: %w", err)
		}
		output.display(message{data: map[string]any{svgMIME: string(svg), plainMIME: "Picture: " + filepath.Base(picture)}})
	}
	sentence := fmt.Sprintf("From figures/gallery: scale %s, backend %s, %d of %d runs stored. `%s` makes the figure.",
		v.Scale, v.Backend, state.Stored, state.Runs, state.Command)
	output.display(small("", fig.Caption+" "+sentence))
	showsGallery = true
	showClaims(fig, map[string]float64{})
	return nil
}

// Measurements are the numbers of one panel.
type Measurements []figures.Row

// Measured returns the numbers of a panel in the gallery, of the seeds and steps that its figure has by default. It
// ends the cell if there are none.
func Measured(number int, panel string) Measurements {
	return Must(measured(galleryFolder(), number, panel))
}

func measured(gallery string, number int, panel string) (Measurements, error) {
	showsGallery = true
	declared, ok := catalog.Figure(number)
	if !ok {
		return nil, fmt.Errorf("there is no figure %d", number)
	}
	seeds, steps, err := quick(declared, panel)
	if err != nil {
		return nil, err
	}
	folder, err := figures.OpenFolder(filepath.Join(gallery, declared.Name()))
	if err != nil {
		return nil, fmt.Errorf("the gallery has no figure %d: %w", number, err)
	}
	fig, chart := figures.Figure{Name: declared.Name()}, figures.Chart{Key: panel}
	var out Measurements
	for _, name := range []string{fig.FileStem(chart) + ".csv", fig.OthersFile(chart)} {
		text, err := folder.Read(name)
		if errors.Is(err, fs.ErrNotExist) && len(out) > 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the gallery has no panel %s of figure %d: %w", panel, number, err)
		}
		rows, err := figures.ReadCSV(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	out = slices.DeleteFunc(out, func(r figures.Row) bool {
		return !slices.Contains(seeds, r.Seed) || !slices.Contains(steps, r.T)
	})
	slices.SortStableFunc(out, func(a, b figures.Row) int { return cmp.Compare(a.T, b.T) })
	return out, nil
}

// quick returns the seeds and steps that a panel has by default.
func quick(f paper.Figure, panel string) (seeds []int64, steps []int, err error) {
	of, err := catalog.Panels(f, lab.Options{Scale: experiment.Small, Panels: []string{panel}})
	if err != nil {
		return nil, nil, err
	}
	outlines, err := of[0].Settings.Outlines(of[0].Series, of[0].Measure)
	if err != nil {
		return nil, nil, err
	}
	return of[0].Seeds, outlines[0].Steps, nil
}

// Steps lists the steps of the measurements.
func (m Measurements) Steps() []int {
	var steps []int
	for _, r := range m {
		steps = append(steps, r.T)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// Mean is the mean of a series over its seeds, each of which is averaged over the steps from first to last. It ends
// the cell if there is no such measurement.
func (m Measurements) Mean(series string, first, last int) float64 {
	return stat.Mean(m.bySeed(series, first, last), nil)
}

// Difference is the mean of series minus that of base.
func (m Measurements) Difference(series, base string, first, last int) float64 {
	return m.Mean(series, first, last) - m.Mean(base, first, last)
}

// SeedMeans are the means of a series over all steps, one for each seed, by ascending seed.
func (m Measurements) SeedMeans(series string) []float64 {
	return m.bySeed(series, 0, m.Steps()[len(m.Steps())-1])
}

func (m Measurements) bySeed(series string, first, last int) []float64 {
	values := map[int64][]float64{}
	for _, r := range m {
		if r.Series == series && r.T >= first && r.T <= last {
			values[r.Seed] = append(values[r.Seed], r.Value)
		}
	}
	if len(values) == 0 {
		Exit(fmt.Errorf("no measurement of %q between the steps %d and %d", series, first, last))
	}
	var means []float64
	for _, seed := range slices.Sorted(maps.Keys(values)) {
		means = append(means, stat.Mean(values[seed], nil))
	}
	return means
}

// Above is the share of seeds and steps at which series is above base.
func (m Measurements) Above(series, base string) float64 {
	of := map[[2]int64]float64{} // by seed and step
	for _, r := range m {
		if r.Series == base {
			of[[2]int64{r.Seed, int64(r.T)}] = r.Value
		}
	}
	above, all := 0.0, 0.0
	for _, r := range m {
		if b, ok := of[[2]int64{r.Seed, int64(r.T)}]; ok && r.Series == series {
			all++
			if r.Value > b {
				above++
			}
		}
	}
	if all == 0 {
		Exit(fmt.Errorf("%q and %q have no seed and step in common", series, base))
	}
	return above / all
}
