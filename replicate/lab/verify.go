package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tvps/replicate/claims"
)

// Verify judges every claim of the catalog by the runs that are stored for these options. It computes nothing. A
// claim is not run if a run or a step of it is missing. Errors: usage errors, an unreadable store, an interruption.
func (l *Lab) Verify(ctx context.Context, o Options) (claims.Verification, error) {
	v, _, err := l.verify(ctx, o)
	return v, err
}

// verify is Verify with the figures.
func (l *Lab) verify(ctx context.Context, o Options) (claims.Verification, []claims.Figure, error) {
	v := claims.Verification{Scale: o.Scale, Set: o.Overrides, Data: []string{}, Command: o.Command("verify")}
	o.AllFigures = true
	var all []claims.Figure
	var panels []claims.Collected
	for _, f := range l.FiguresAt(o.Scale) {
		if err := ctx.Err(); err != nil {
			return v, nil, fmt.Errorf("interrupted: %w", err)
		}
		stored, state, err := l.stored(f, o)
		if err != nil {
			return v, nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		judged, err := l.judge(f, o, stored)
		if err != nil {
			return v, nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		v.Add(state, judged)
		all, panels = append(all, judged), append(panels, stored...)
	}
	v.Backend = strings.Join(l.backends(panels), ", ")
	claims.Correct(v.Claims)
	return v, all, nil
}

// WriteGallery rewrites the block "gallery" of the README.md in a folder of figures, with the pictures in that folder,
// and writes the sizes that were fixed for claims next to it, if there are any.
func (l *Lab) WriteGallery(v claims.Verification, dir string) error {
	sizes, err := l.fixedSizes()
	if err != nil {
		return err
	}
	if len(sizes) > 0 {
		if err := WriteJSON(filepath.Join(dir, sizesName), sizes); err != nil {
			return err
		}
	}
	trained, err := Trained(dir)
	if err != nil {
		return err
	}
	return RewriteBlock(filepath.Join(dir, "README.md"), "gallery", v.Gallery(l.Figures, dir, trained))
}

// Trained reads the verdicts of a gallery's folder "medium"; nil if there is none.
func Trained(dir string) (trained *claims.Verification, err error) {
	file := filepath.Join(dir, "medium", "verify.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &trained)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return trained, nil
}

// sizesName is the name of the file with the sizes that were fixed.
const sizesName = "sizes.json"

func (l *Lab) sizesFile() string { return filepath.Join(l.Store.Dir(), sizesName) }

// Sizes is [claims.Archive.Sizes] of all figures. sizes are what the plan of these options would compute.
func (l *Lab) Sizes(ctx context.Context, o Options, budget time.Duration) (sizes []claims.Size, unreachable []string,
	err error) {
	_, all, err := l.verify(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	fixed, err := l.fixedSizes()
	if err != nil {
		return nil, nil, err
	}
	return l.Archive.Sizes(all, fixed, claims.Size{Scale: o.Scale, Set: o.Overrides}, budget)
}

// fixedSizes returns the sizes that were fixed in the folders of the tables and of the store, with their panels.
func (l *Lab) fixedSizes() ([]claims.Size, error) {
	sizes, err := claims.ReadSizes(l.sizesFile(), l.panelOf)
	if err != nil || l.Tables == nil {
		return sizes, err
	}
	earlier, err := claims.ReadSizes(filepath.Join(l.Tables.Dir(), sizesName), l.panelOf)
	if err != nil {
		return nil, err
	}
	earlier = slices.DeleteFunc(earlier, func(s claims.Size) bool { return slices.ContainsFunc(sizes, s.Same) })
	return slices.Concat(earlier, sizes), nil
}

// panelOf returns the panel of a size.
func (c Catalog) panelOf(s claims.Size) (claims.Panel, error) {
	for _, f := range c.Figures {
		if f.Name() != s.Figure {
			continue
		}
		plan, err := c.Panels(f, Options{Scale: s.Scale, Overrides: s.Set, Panels: []string{s.Panel}, AllFigures: true})
		if err != nil {
			return claims.Panel{}, err
		}
		return plan[0], nil
	}
	return claims.Panel{}, fmt.Errorf("there is no figure %q", s.Figure)
}

// Extend computes the sizes that are fixed in the store's folder but not complete, then fixes and computes those of the
// given ones, in their order, that a budget allows. After an interruption the same call continues. It returns what was
// computed for.
func (l *Lab) Extend(ctx context.Context, sizes []claims.Size, budget time.Duration, o Options) ([]claims.Size, error) {
	fixed, err := l.fixedSizes()
	if err != nil {
		return nil, err
	}
	var now []claims.Size
	var plan []claims.Panel
	left := budget.Minutes()
	for _, s := range fixed {
		p, err := l.Enlarged(s)
		if err != nil || p.Stored(l.Store) {
			continue
		}
		if s.Minutes, err = l.Minutes(s); err != nil {
			return nil, err
		}
		now, plan, left = append(now, s), append(plan, p), left-s.Minutes
	}
	for _, s := range sizes {
		if s.Minutes > left || slices.ContainsFunc(fixed, s.Same) {
			continue
		}
		p, err := l.Enlarged(s)
		if err != nil {
			return nil, err
		}
		now, plan, fixed, left = append(now, s), append(plan, p), append(fixed, s), left-s.Minutes
	}
	if len(now) == 0 {
		return nil, nil
	}
	if err := WriteJSON(l.sizesFile(), fixed); err != nil {
		return nil, err
	}
	return now, l.computeAll(ctx, plan, o.Workers)
}
