package lab

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/paper"
	"tvps/replicate/usage"
)

// sizesName is the name of the file with the sizes that were fixed.
const sizesName = "sizes.json"

// longestSizes is the longest file of sizes that is read, in bytes: the gallery's has less than a hundredth of it.
const longestSizes = 4 << 20

func (l *Lab) sizesFile() string { return filepath.Join(l.Store.Dir(), sizesName) }

// fixed returns the sizes that were fixed in the folders of the tables and of the store, with their panels.
func (l *Lab) fixed() ([]Size, error) {
	sizes, err := l.readSizes(l.sizesFile())
	if err != nil || l.tables == nil {
		return sizes, err
	}
	earlier, err := l.readSizes(filepath.Join(l.tables.dir, sizesName))
	if err != nil {
		return nil, err
	}
	earlier = slices.DeleteFunc(earlier, func(s Size) bool { return slices.ContainsFunc(sizes, s.same) })
	return slices.Concat(earlier, sizes), nil
}

// readSizes reads a file of sizes; none if it does not exist.
func (l *Lab) readSizes(path string) ([]Size, error) {
	text, err := artifact.ReadFile(path, longestSizes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var sizes []Size
	if err == nil {
		err = json.Unmarshal(text, &sizes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it or remove it, with the sizes that it fixed", path, err)
	}
	for i, s := range sizes {
		if s.SHA256 != s.sum() {
			return nil, fmt.Errorf("%s: the size for panel %s of %s does not match its checksum: restore the file",
				path, s.Panel, s.Figure)
		}
		if err := sizes[i].resolve(l.Catalog); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return sizes, nil
}

// writeSizes writes a file of sizes with their checksums.
func writeSizes(path string, sizes []Size) error {
	for i := range sizes {
		sizes[i].SHA256 = sizes[i].sum()
	}
	return WriteJSON(path, sizes)
}

// sum is the SHA-256 of the size as JSON, without its own.
func (s Size) sum() string {
	s.SHA256 = ""
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("lab: a size did not encode: %v", err)) // its numbers are finite
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// resolve sets the panel of a size that was read.
func (s *Size) resolve(c Catalog) error {
	for _, f := range c.Figures {
		if f.Name() != s.Figure {
			continue
		}
		plan, err := c.Panels(f, Options{Scale: s.Scale, Overrides: s.Set, Panels: []string{s.Panel}, AllFigures: true})
		if err != nil {
			return err
		}
		s.panel = plan[0]
		return nil
	}
	return fmt.Errorf("there is no figure %q", s.Figure)
}

// ParseSize returns a size that the user asks for instead of the plan, from a text such as fig1:a:0-9:1: figure, panel,
// seeds, and a stride that may be left out. All its errors but those of reading stored runs are usage errors.
func (l *Lab) ParseSize(text string, o Options) (Size, error) {
	words := strings.Split(text, ":")
	if len(words) < 3 || len(words) > 4 {
		return Size{}, usage.Errorf("%q is no size: give figure, panel, seeds and stride, as fig1:a:0-9:1", text)
	}
	s := Size{Scale: o.Scale, Set: o.Overrides, Panel: words[1]}
	i := slices.IndexFunc(l.Figures, func(f paper.Figure) bool { return f.Command() == words[0] })
	if i < 0 {
		return Size{}, usage.Errorf("%s: there is no figure %q", text, words[0])
	}
	s.Figure = l.Figures[i].Name()
	var err error
	if s.Seeds, err = ParseSeeds(words[2]); err != nil {
		return Size{}, usage.Errorf("%s: %w", text, err)
	}
	if len(words) == 4 {
		if s.Stride, err = strconv.Atoi(words[3]); err != nil || s.Stride < 1 {
			return Size{}, usage.Errorf("%s: the stride %q is not 1 or more", text, words[3])
		}
	}
	if err := s.resolve(l.Catalog); err != nil {
		return Size{}, usage.Errorf("%s: %w", text, err)
	}
	if _, err := s.panel.with(s.Sample); err != nil {
		return Size{}, usage.Errorf("%s: %w", text, err)
	}
	if s.cells(s.panel) <= (Sample{Seeds: s.panel.Seeds}).cells(s.panel) {
		return Size{}, usage.Errorf("%s has no more seeds times steps than the panel itself", text)
	}
	if s.Minutes, err = l.minutes(s); err != nil || s.Minutes > 0 {
		return s, err
	}
	plan, err := s.plan(l)
	if err != nil || plan.Stored(l.Store) {
		return s, err
	}
	return Size{}, usage.Errorf("%s: how long it takes is not known, as no run of the panel is stored: run %s --panel %s first",
		text, words[0], s.Panel)
}

// same tells whether two sizes have the same runs of the same panel.
func (s Size) same(other Size) bool {
	key := func(s Size) string { return fmt.Sprint(s.Scale, s.Figure, s.Panel, s.Set, s.Sample, s.Series) }
	return key(s) == key(other)
}

// Extend computes the sizes that are fixed in the store's folder but not complete, then fixes and computes those of the
// given ones, in their order, that a budget allows. After an interruption the same call continues. It returns what was
// computed for.
func (l *Lab) Extend(ctx context.Context, sizes []Size, budget time.Duration, o Options) ([]Size, error) {
	fixed, err := l.fixed()
	if err != nil {
		return nil, err
	}
	var now []Size
	left := budget.Minutes()
	for _, s := range fixed {
		if s.Minutes, err = l.minutes(s); err != nil {
			return nil, err
		}
		if p, err := s.plan(l); err != nil || p.Stored(l.Store) {
			continue
		}
		now = append(now, s)
		left -= s.Minutes
	}
	for _, s := range sizes {
		if s.Minutes <= left && !slices.ContainsFunc(fixed, s.same) {
			left -= s.Minutes
			now, fixed = append(now, s), append(fixed, s)
		}
	}
	if len(now) == 0 {
		return nil, nil
	}
	if err := writeSizes(l.sizesFile(), fixed); err != nil {
		return nil, err
	}
	var plan []PanelPlan
	for _, s := range now {
		p, err := s.plan(l)
		if err != nil {
			return nil, err
		}
		plan = append(plan, p)
	}
	report, err := l.Execute(ctx, plan, o.Workers)
	if err == nil {
		err = report.Err()
	}
	return now, err
}
