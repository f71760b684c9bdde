package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
	"tvps/replicate/paper"
)

// galleryFolder has the figures at the small scale that the repository contains: figures/gallery in $TVPS_ROOT.
func galleryFolder() string { return filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "gallery") }

// found shows what a gallery has of a figure: the sentence that answers its question, the pictures, a line that says
// what was run, and folded the claims with their verdicts.
func found(gallery string, number int, panels ...string) error {
	declared, _ := catalog.Figure(number)
	small, err := verdicts(gallery)
	if err != nil {
		return err
	}
	trained, err := verdicts(filepath.Join(gallery, "medium"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	v, all := small, small.With(trained)
	if len(trained.Ran().Of(declared.Name())) > 0 {
		v, gallery = trained, filepath.Join(gallery, "medium")
	}
	at := slices.IndexFunc(v.Figures, func(s claims.State) bool { return s.Number == number })
	if at < 0 {
		return fmt.Errorf("the gallery has no figure %d", number)
	}
	state := v.Figures[at]
	fig := all.Shown(declared, state.Command)
	showAnswer(fig)
	pictures, _ := fs.Glob(os.DirFS(gallery), state.Name+"/*.svg") // sorted by name; none without the folder
	for _, picture := range pictures {
		panel := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(picture), state.Name+"-"), ".svg")
		if len(panels) > 0 && !slices.Contains(panels, panel) {
			continue
		}
		svg, err := os.ReadFile(filepath.Join(gallery, picture))
		if err != nil {
			return fmt.Errorf("cannot read a picture of the gallery: %w", err)
		}
		name := "Picture: " + filepath.Base(picture)
		notebook.Display(map[string]any{notebook.SVGMIME: short.Replace(string(svg)), notebook.PlainMIME: name})
	}
	sentence := fmt.Sprintf("From figures/gallery: scale %s, backend %s, %d of %d runs stored. `%s` makes the figure.",
		v.Scale, v.Backend, state.Stored, state.Runs, state.Command)
	showClaims(fig, fig.Caption+" "+sentence, map[string]float64{})
	return nil
}

// verdicts reads those of a gallery.
func verdicts(gallery string) (v claims.Verification, err error) {
	path := filepath.Join(gallery, "verify.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return v, fmt.Errorf("cannot read the results of the gallery: %w", err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("the results of the gallery, %s, are damaged: %w", path, err)
	}
	return v, nil
}

// short makes a picture smaller: it takes away line breaks, each of which a notebook stores as a string of its own, and
// what is said of each text although it is the default.
var short = strings.NewReplacer("'Liberation Sans',Arial,", "Arial,", "font-variant:normal;", "", "font-weight:normal;", "",
	"font-style:normal;", "", "\n\t", " ", "\n", "")

// measured reads a panel's numbers from a gallery, of the seeds and steps that the figure has by default.
func measured(gallery string, number int, panel string) (notebook.Measurements, error) {
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
	var out notebook.Measurements
	for _, table := range []string{figures.DrawnTable, figures.OthersTable} {
		rows, err := folder.Rows(figures.Stem(declared.Name(), panel) + table)
		if errors.Is(err, fs.ErrNotExist) && len(out) > 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the gallery has no panel %s of figure %d: %w", panel, number, err)
		}
		for _, r := range rows {
			if slices.Contains(seeds, r.Seed) && slices.Contains(steps, r.T) {
				out = append(out, notebook.Measurement{Series: r.Series, Seed: r.Seed, T: r.T, Value: r.Value})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b notebook.Measurement) int { return cmp.Compare(a.T, b.T) })
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
