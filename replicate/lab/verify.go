package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/replicate/paper"
	"tvps/replicate/settings"
)

// Verification is every claim of the paper with what is stored about it. It holds no
// path, host or time: the same runs give the same bytes.
type Verification struct {
	Scale   settings.Scale `json:"scale"`
	Set     []string       `json:"set,omitempty"` // settings over the scale's
	Backend string         `json:"backend"`
	Data    []string       `json:"data"`    // a sentence for each kind of data that was used, without its full stop
	Command string         `json:"command"` // makes this table
	Figures []State        `json:"figures"`
	Claims  []Judged       `json:"claims"` // by figure
}

// Verify judges every claim of the paper by what is stored at these options, and computes
// nothing. A claim of which a run or a step is missing is not run. Errors are mistakes in
// the options, an unreadable store, and an interrupt.
func (l *Lab) Verify(ctx context.Context, o Options) (Verification, error) {
	v := l.verification(o)
	for _, f := range l.Figures {
		s, err := l.lookAt(ctx, f, o)
		if err != nil {
			return v, err
		}
		v.add(l, f, s)
	}
	return v, nil
}

// verification is a table without figures.
func (l *Lab) verification(o Options) Verification {
	return Verification{Scale: o.Scale, Set: o.Overrides, Backend: l.backendName(), Data: []string{},
		Command: o.Command("verify")}
}

// lookAt is look, unless the user interrupted it.
func (l *Lab) lookAt(ctx context.Context, f paper.Figure, o Options) (stored, error) {
	if err := ctx.Err(); err != nil {
		return stored{}, fmt.Errorf("interrupted: %w", err)
	}
	o.AllFigures = true
	s, err := l.look(f, o)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, err
}

// add enters a figure.
func (v *Verification) add(l *Lab, f paper.Figure, s stored) {
	v.Figures = append(v.Figures, s.State)
	v.Claims = append(v.Claims, s.judge(f)...)
	for _, p := range s.plan {
		if note := p.Settings.Source(l.Host).Note; note != "" && !slices.Contains(v.Data, note) {
			v.Data = append(v.Data, note)
		}
	}
}

// Stored is how many runs are stored, of all that the figures are made of; a run that two
// figures share counts for both.
func (v Verification) Stored() (stored, of int) {
	for _, f := range v.Figures {
		stored, of = stored+f.Stored, of+f.Runs
	}
	return stored, of
}

// Of lists the claims of a figure.
func (v Verification) Of(figure string) []Judged {
	return slices.DeleteFunc(slices.Clone(v.Claims), func(c Judged) bool { return c.Figure != figure })
}

// All is the command that computes everything the table needs.
func (v Verification) All() string { return strings.Replace(v.Command, " verify ", " all ", 1) }

// Basis says what the verdicts rest on: scale, settings, seeds, backend and data, one
// sentence each.
func (v Verification) Basis() []string {
	scale := "Scale " + string(v.Scale)
	if len(v.Set) > 0 {
		scale += ", " + strings.Join(v.Set, ", ")
	}
	out := []string{fmt.Sprintf("%s, %s, backend %s.", scale, v.seeds(), v.Backend)}
	for _, note := range v.Data {
		out = append(out, note+".")
	}
	return out
}

// seeds names the seeds of most figures, then those of the others.
func (v Verification) seeds() string {
	count := map[string]int{}
	most := ""
	for _, f := range v.Figures {
		if len(f.Seeds) == 0 {
			continue
		}
		text := seedText(f.Seeds, ", ")
		if count[text]++; count[text] > count[most] {
			most = text
		}
	}
	out := "seeds " + most
	var others []string
	for _, f := range v.Figures {
		if text := seedText(f.Seeds, ", "); len(f.Seeds) > 0 && text != most {
			others = append(others, fmt.Sprintf("%s: %s", f.Short(), text))
		}
	}
	if len(others) > 0 {
		out += fmt.Sprintf(" (%s)", strings.Join(others, "; "))
	}
	return out
}

// Print writes the table for a terminal: each figure with its claims, what the paper says
// and what was measured, then what is missing and how to compute it. flags are added to
// the commands that it names.
func (v Verification) Print(w io.Writer, flags string) error {
	var b strings.Builder
	for _, f := range v.Figures {
		fmt.Fprintf(&b, "%s: %s\n", f.Title, f.progress())
		for _, c := range v.Of(f.Name) {
			head, parts, _ := strings.Cut(c.String(), "\n")
			fmt.Fprintf(&b, "%s\n  %13s    the paper: %s\n", head, "", c.Says)
			if parts != "" {
				b.WriteString(parts + "\n")
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s\n", strings.Join(v.Basis(), "\n"))
	fmt.Fprintf(&b, "%s.\n", countVerdicts(v.Claims))
	for _, f := range v.Figures {
		if line := f.missing(flags); line != "" {
			b.WriteString(line + "\n")
		}
	}
	if stored, of := v.Stored(); stored < of {
		fmt.Fprintf(&b, "All that is missing, each run once: %s%s\n", v.All(), flags)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Write writes the table as JSON into a file, whose folder it makes if need be.
func (v Verification) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return WriteJSON(path, v)
}

// progress says how much of a figure is stored.
func (s State) progress() string {
	return fmt.Sprintf("%d of %d runs stored, seeds %s", s.Stored, s.Runs, seedText(s.Seeds, ", "))
}

// missing is the line that says how to compute what a figure lacks; empty if it lacks
// nothing.
func (s State) missing(flags string) string {
	switch {
	case s.Note != "":
		return fmt.Sprintf("%s lacks %d of %d runs (%s): %s%s", s.Name, s.Runs-s.Stored, s.Runs, s.Note, s.Command,
			flags)
	case s.Stored < s.Runs:
		return fmt.Sprintf("%s lacks %d of %d runs: %s%s", s.Name, s.Runs-s.Stored, s.Runs, s.Command, flags)
	}
	return ""
}
