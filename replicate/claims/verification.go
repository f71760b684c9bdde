package claims

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Verification is the table of all claims with their verdicts by the stored runs. It contains no path, host or time:
// the same runs give the same bytes.
type Verification struct {
	Scale   experiment.Scale `json:"scale"`
	Set     []string         `json:"set,omitempty"` // settings that override those of the scale
	Backend string           `json:"backend"`
	Data    []string         `json:"data"`    // a sentence for each kind of data used, without its full stop
	Command string           `json:"command"` // the command that makes this table
	Figures []State          `json:"figures"`
	Claims  []Judged         `json:"claims"` // by figure
}

// State tells how much of a figure is stored.
type State struct {
	Number  int     `json:"number"`
	Name    string  `json:"figure"`
	Title   string  `json:"title"`
	Seeds   []int64 `json:"seeds"`
	Runs    int     `json:"runs"`              // number of runs of the figure
	Stored  int     `json:"stored"`            // number of these that are stored with every step
	Command string  `json:"command,omitempty"` // makes the figure and computes what is missing
	Note    string  `json:"note,omitempty"`    // why the runs of some panels cannot be planned
}

// Add appends a figure with its claims, and what there is to say of the data and scales of the panels that have runs.
func (v *Verification) Add(s State, panels []Collected, judged []Judged) {
	v.Figures = append(v.Figures, s)
	v.Claims = append(v.Claims, judged...)
	for _, p := range panels {
		for _, note := range []string{p.Source.Note, p.ownScale()} {
			if len(p.Results) > 0 && note != "" && !slices.Contains(v.Data, note) {
				v.Data = append(v.Data, note)
			}
		}
	}
}

// Stored returns how many runs are stored, and how many the figures have. A run that two figures share counts twice.
func (v Verification) Stored() (stored, of int) {
	for _, f := range v.Figures {
		stored, of = stored+f.Stored, of+f.Runs
	}
	return stored, of
}

// Of returns the claims of a figure.
func (v Verification) Of(figure string) []Judged {
	return slices.DeleteFunc(slices.Clone(v.Claims), func(c Judged) bool { return c.Figure != figure })
}

// Ran returns the table without the figures of which no claim was run at its scale.
func (v Verification) Ran() Verification {
	v.Figures = slices.DeleteFunc(slices.Clone(v.Figures), func(f State) bool { return !slices.ContainsFunc(v.Of(f.Name), Judged.ran) })
	v.Claims = slices.DeleteFunc(slices.Clone(v.Claims), func(c Judged) bool {
		return !slices.ContainsFunc(v.Figures, func(f State) bool { return f.Name == c.Figure })
	})
	return v
}

// ran tells whether a claim was run, and with it a panel that has the scale of the figure.
func (j Judged) ran() bool {
	return j.Verdict != NotRun && slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Scale == "" })
}

// With returns the table with the verdicts of a larger scale on the figures that were run there: on the claims that
// were run, and on those that lack runs. Those that have the smaller scale in both tables stay. Holm's correction is
// for all claims of the new table.
func (v Verification) With(larger Verification) Verification {
	v.Claims = slices.Clone(v.Claims)
	for _, c := range larger.Ran().Claims {
		i := slices.IndexFunc(v.Claims, func(own Judged) bool { return own.ID == c.ID })
		if i >= 0 && (c.ran() || c.Verdict == NotRun) {
			v.Claims[i] = c
		}
	}
	Correct(v.Claims)
	return v
}

// Shown is what the pages and notebooks show of a figure's claims, and its caption. command makes the figure.
func (v Verification) Shown(declared paper.Figure, command string) figures.Figure {
	judged := v.Of(declared.Name())
	for i, c := range judged { // a table that was read has no short forms
		at := slices.IndexFunc(declared.Claims, func(d paper.Claim) bool { return d.ID == c.ID })
		if at >= 0 {
			judged[i].Short = declared.Claims[at].Short
		}
	}
	f := Show(judged, func(panels string) string { return command + " --panel " + panels })
	f.Caption = declared.Caption
	for i, c := range judged {
		if c.Verdict == NotRun {
			f.Claims[i].Parts = nil
		}
	}
	return f
}

// All returns the command that computes all runs of the table.
func (v Verification) All() string { return strings.Replace(v.Command, " verify ", " all ", 1) }

// Basis describes what the verdicts are based on, in sentences: scale, settings, seeds and backend, then the data, then
// how many of the decided claims stay so with Holm's correction.
func (v Verification) Basis() []string {
	scale := "Scale " + string(v.Scale)
	if len(v.Set) > 0 {
		scale += ", " + strings.Join(v.Set, ", ")
	}
	out := []string{fmt.Sprintf("%s, %s, backend %s.", scale, v.seeds(), v.Backend)}
	for _, note := range v.Data {
		for sentence := range strings.SplitSeq(note, ". ") { // notes of several figures share sentences
			sentence = strings.Replace(sentence, "This is a ", "Some panels have a ", 1) + "."
			if !slices.Contains(out, sentence) {
				out = append(out, sentence)
			}
		}
	}
	decided, stay := 0, 0
	for _, c := range counted(withoutTwins(v.Claims), false) {
		if c.P > 0 {
			decided++
		}
		if c.Holm == Kept {
			stay++
		}
	}
	if decided > 0 {
		out = append(out, fmt.Sprintf("With Holm's correction for all judged claims, %d of %s with a p-value keep their verdict.",
			stay, runs.Plural(decided, "claim")))
	}
	return out
}

// seeds names the seeds of most figures that have runs, then those of the others.
func (v Verification) seeds() string {
	stored, _ := v.Stored()
	count := map[string]int{}
	most := ""
	for _, f := range v.Figures {
		if f.Stored == 0 && stored > 0 {
			continue
		}
		text := FormatSeeds(f.Seeds, ", ")
		if count[text]++; count[text] > count[most] {
			most = text
		}
	}
	out := "seeds " + most
	var others []string
	for _, f := range v.Figures {
		if text := FormatSeeds(f.Seeds, ", "); text != most && (f.Stored > 0 || stored == 0) {
			others = append(others, fmt.Sprintf("figure %d: %s", f.Number, text))
		}
	}
	if len(others) > 0 {
		out += fmt.Sprintf(" (%s)", strings.Join(others, "; "))
	}
	return out
}

// Print prints the table for a terminal: each figure with its claims, the paper's words and the effects, then the
// missing runs and the commands that compute them. flags are appended to these commands.
func (v Verification) Print(w io.Writer, flags string) error {
	var b strings.Builder
	for _, f := range v.Figures {
		fmt.Fprintf(&b, "%s: %s\n", f.Title, f.Progress())
		for _, c := range v.Of(f.Name) {
			fmt.Fprintln(&b, c)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s\n", strings.Join(v.Basis(), "\n"))
	if len(v.Claims) > 0 {
		fmt.Fprintf(&b, "%s.\n", Total(v.Claims))
	}
	for _, f := range v.Figures {
		if line := f.missing(flags); line != "" {
			b.WriteString(line + "\n")
		}
	}
	stored, of := v.Stored()
	if stored == 0 {
		b.WriteString("No run is stored. --tables figures/gallery judges the tables of the gallery.\n")
	}
	if stored < of {
		fmt.Fprintf(&b, "All missing runs, each run once: %s%s\n", v.All(), flags)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Progress tells how much of a figure is stored, in words.
func (s State) Progress() string {
	return fmt.Sprintf("%d of %d runs stored, seeds %s", s.Stored, s.Runs, FormatSeeds(s.Seeds, ", "))
}

// missing returns a line with the number of missing runs and the command that computes them; "" if none is missing.
func (s State) missing(flags string) string {
	if s.Stored == s.Runs { // if there is a note, the runs of some panels are missing
		return ""
	}
	return fmt.Sprintf("%s lacks %d of %d runs%s: %s%s",
		s.Name, s.Runs-s.Stored, s.Runs, inParentheses(s.Note), s.Command, flags)
}
