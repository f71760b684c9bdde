package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// TestJudgedPanels: with Judged a panel has its declared seeds and steps, and one copy for each sample of some of its
// series. Panels without a declared sample keep that of the figure.
func TestJudgedPanels(t *testing.T) {
	panels, err := testCatalog.Panels(paper.Fig4(), Options{Scale: "small", Judged: true})
	demand.NoError(t, err)
	type sample struct {
		key    string
		narrow bool
		text   string
		looks  int
		series int
	}
	var got []sample
	for _, p := range panels {
		got = append(got, sample{p.Key, p.Narrow, p.Sample().String(), p.Looks, len(p.Series)})
	}
	want := []sample{{"a", false, "8 seeds, every 3rd step", 2, 5}, {"a", true, "10 seeds, every step", 3, 2},
		{"b", false, "3 seeds, every 13th step", 0, 5}}
	demand.List(t, got, want, "Figure 4 is judged by")
	first, err := testCatalog.Panels(paper.Fig12(), Options{Scale: "small", Judged: true, Panels: []string{"a"}})
	if err != nil || first[0].Sample().String() != "3 seeds, every 2nd step" {
		t.Errorf("the first three seeds of Figure 12a: %v, %v", first, err)
	}
	for _, o := range []Options{{Scale: "small", Judged: true, Seeds: []int64{0}},
		{Scale: "small", Judged: true, Overrides: []string{"a.stride=2"}}} {
		_, err := testCatalog.Panels(paper.Fig4(), o)
		demand.Error(t, err, "leave out --judged, or --seeds and --stride")
	}
}

// TestDeclaredSamples: a stride that shares a factor with the interval of a label shift meets some of its steps alone,
// and cannot stand for all. So no declared sample has one. A panel has one sample of a scale for all series.
func TestDeclaredSamples(t *testing.T) {
	for _, f := range testCatalog.Figures {
		for _, scale := range experiment.Scales {
			o := Options{Scale: scale, Judged: true, AllFigures: true}
			panels, err := testCatalog.Panels(f, o)
			if err != nil {
				continue // a scale that its scenarios lack
			}
			for _, p := range panels {
				if s, ok := p.Settings.(supervised.Settings); ok && s.CheckStride() != nil {
					t.Errorf("%s, panel %s: %v", f.Name(), p.Key, s.CheckStride())
				}
				whole := slices.DeleteFunc(slices.Clone(p.Judged), func(s paper.Sample) bool {
					return s.Scale != scale || len(s.Series) > 0
				})
				if len(whole) > 1 {
					t.Errorf("%s, panel %s declares %v", f.Name(), p.Key, whole)
				}
			}
		}
	}
}

// TestDrawnAgain: a figure of the gallery that is drawn again from its tables has all their values, also those of the
// figure's few runs at steps that the judged ones lack.
func TestDrawnAgain(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	l := fromTables(t, testCatalog, gallery)
	l.Stdout = io.Discard
	dir, drawn := t.TempDir(), []paper.Figure{paper.Fig6(), paper.Fig7()}
	for _, f := range drawn {
		out := filepath.Join(dir, f.Name())
		_, err := l.Draw(f, Options{Scale: "small", Judged: true, Out: out, Compact: true})
		demand.NoError(t, err)
		was, is := values(t, f, filepath.Join(gallery, f.Name())), values(t, f, out)
		for place, value := range was {
			if v, ok := is[place]; !ok || v != value {
				t.Errorf("%s: %v was %v, is %v (%v)", f.Name(), place, value, v, ok)
			}
		}
	}
	again := fromTables(t, testCatalog, dir)
	for _, f := range drawn {
		quick, err := testCatalog.Panels(f, Options{Scale: "small"})
		demand.NoError(t, err)
		for _, p := range quick {
			demand.NoError(t, again.AddJobs(&p))
			c, err := again.Load(p)
			demand.NoError(t, err)
			if slices.ContainsFunc(p.Jobs, func(job runs.Wanted) bool { return c.Results[job.Spec.ID()] == nil }) {
				t.Errorf("%s, panel %s: the few runs are not whole in the new tables", f.Name(), p.Key)
			}
		}
	}
}

// values are those of all tables of a drawn figure.
func values(t *testing.T, f paper.Figure, dir string) map[figures.Row]float64 {
	t.Helper()
	folder, err := figures.OpenFolder(dir)
	demand.NoError(t, err)
	out := map[figures.Row]float64{}
	for _, p := range f.Panels {
		for _, table := range []string{figures.DrawnTable, figures.JudgedTable, figures.OthersTable} {
			rows, err := folder.Rows(figures.Stem(f.Name(), p.Key) + table)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			demand.NoError(t, err)
			for _, r := range rows {
				value := r.Value
				r.Value = 0
				out[r] = value
			}
		}
	}
	return out
}

// TestPlacesAgree: headline, tally and verdicts of every figure are the same on its page, in the terminal, in the
// gallery, in notebooks and in README.md. The tally counts what is listed below it, and the headline says nothing else.
func TestPlacesAgree(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	headlines := strings.ReplaceAll(string(demand.Read(t, filepath.Join(gallery, "README.md"))), `\_`, "_")
	for _, dir := range []string{gallery, medium} {
		v, l := committed(t, dir), fromTables(t, testCatalog, dir)
		page := strings.ReplaceAll(string(demand.Read(t, filepath.Join(dir, "README.md"))), `\_`, "_")
		for _, f := range testCatalog.FiguresAt(v.Scale) {
			if dir == medium && slices.ContainsFunc(v.Of(f.Name()), func(c claims.Judged) bool { return c.Verdict == claims.NotRun }) {
				continue // its page lacks the claims about panels that are not drawn
			}
			o := Options{Scale: v.Scale, Judged: true}
			panels, _, err := l.stored(f, o)
			demand.NoError(t, err)
			judged, err := o.besideGallery(claims.Judge(f, panels))
			demand.NoError(t, err)
			r, err := l.described(f, o, panels, judged, nil)
			demand.NoError(t, err)
			shown, terminal := v.Shown(f, ""), &strings.Builder{}
			l.Stdout = terminal
			l.printLines(r)
			demand.Words(t, terminal.String(), r.Figure.Tally)
			trained := dir == gallery && len(committed(t, medium).Ran().Of(f.Name())) > 0 // it is shown at medium instead
			if !trained {
				demand.Words(t, page, shown.Tally)
				verdicts := regexp.MustCompile(`; not counted: [^;]*`).ReplaceAllString(withoutNumber(shown.Tally), "")
				demand.Words(t, readme, "<br>"+verdicts+" |")
			}
			if !reflect.DeepEqual(r.Figure.Answer, shown.Answer) || r.Figure.Tally != shown.Tally {
				t.Errorf("%s says on its page %v, %s; in the gallery %v, %s", f.Name(), r.Figure.Answer, r.Figure.Tally,
					shown.Answer, shown.Tally)
			}
			count, lost := map[figures.Outcome]int{}, 0
			for i, c := range shown.Claims {
				demand.Equal(t, r.Figure.Claims[i].Verdict, c.Verdict, "%s on the page and in the gallery", c.ID)
				demand.Words(t, terminal.String(), " "+c.Verdict.Short().Word+" ")
				if count[c.Verdict.Outcome]++; strings.Contains(c.Verdict.Word, "Holm") {
					lost++
				}
			}
			demand.Equal(t, strings.Count(terminal.String(), "Not with Holm's correction: "), lost, "%s: not kept", f.Name())
			for _, a := range shown.Answer {
				if !trained {
					demand.Words(t, headlines, sentence(a))
				}
				if count[a.Verdict.Outcome] == 0 {
					t.Errorf("%s: no claim is listed as %s, and the headline has one", f.Name(), a.Verdict.Word)
				}
			}
			demand.Equal(t, numbers(shown.Tally), len(shown.Claims), "%s: claims in %q", f.Name(), shown.Tally)
		}
	}
}

// sentence is a part of a headline as the gallery has it.
func sentence(a figures.Answer) string {
	return strings.ToUpper(a.Verdict.Word[:1]) + a.Verdict.Word[1:] + ":** " +
		strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(a.Text) + "."
}

// numbers sums the numbers of verdicts in a tally.
func numbers(tally string) (sum int) {
	tally = regexp.MustCompile(`^\d+ claims: `).ReplaceAllString(tally, "")
	for _, n := range regexp.MustCompile(`(\d+) (claim|hold|do|show|is|are)`).FindAllStringSubmatch(tally, -1) {
		count, _ := strconv.Atoi(n[1])
		sum += count
	}
	return sum
}

// TestOneLook: the claims that would have another verdict if all had been looked at once are those that STATISTICS.md
// names.
func TestOneLook(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	once := testCatalog
	once.Figures = slices.Clone(once.Figures)
	for i, f := range once.Figures {
		once.Figures[i].Panels = slices.Clone(f.Panels)
		for j, p := range f.Panels {
			once.Figures[i].Panels[j].Judged = slices.Clone(p.Judged)
			for k := range p.Judged {
				once.Figures[i].Panels[j].Judged[k].Looks = 1
			}
		}
	}
	var others []string
	for _, dir := range []string{gallery, medium} {
		of := committed(t, dir)
		v, err := fromTables(t, once, dir).Verify(t.Context(), Options{Scale: of.Scale, Judged: true})
		demand.NoError(t, err)
		for i, c := range v.Claims {
			if was := of.Claims[i]; c.ID != was.ID {
				t.Fatalf("%s is listed where %s was", c.ID, was.ID)
			} else if c.Verdict != was.Verdict && c.Twin == "" {
				others = append(others, fmt.Sprintf("%s: %s", c.ID, c.Verdict))
			}
		}
	}
	if want := []string{"fig2b-sooner-sac: no difference", "fig10-stable: no difference"}; !slices.Equal(others, want) {
		t.Errorf("with 95%% throughout other verdicts are %q, want %q", others, want)
	}
	demand.Words(t, strings.Join(strings.Fields(string(demand.Read(t, filepath.Join("..", "STATISTICS.md")))), " "),
		"two verdicts on robots would differ: `fig2b-sooner-sac` and `fig10-stable` would show no difference.")
}

// TestRowCommand: the options of the command in a claim's row, with the gallery's tables, give the row's numbers again,
// and no run is missing. So do those at the medium scale.
func TestRowCommand(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	for _, c := range []struct {
		dir, id string
		f       paper.Figure
		panel   string
	}{
		{gallery, "fig1-ours-everything", paper.Fig1(), "b"},
		{gallery, "fig3a-ours-standard", paper.Fig3(), "a"},
		{medium, "fig2b-omega-context", paper.Fig2(), "b"},
		{medium, "fig10-both", paper.Fig10(), "b"},
	} {
		of := committed(t, c.dir)
		l := fromTables(t, testCatalog, c.dir)
		l.Stdout = io.Discard
		r, err := l.Draw(c.f, Options{Scale: of.Scale, Judged: true, Panels: []string{c.panel}, Out: t.TempDir(), Compact: true})
		demand.NoError(t, err)
		part := func(all []claims.Judged) claims.JudgedPart {
			j := all[slices.IndexFunc(all, func(j claims.Judged) bool { return j.ID == c.id })]
			return j.Parts[slices.IndexFunc(j.Parts, func(p claims.JudgedPart) bool { return p.Panel == c.panel })]
		}
		got, want := part(r.Claims), part(of.Claims)
		if got.Effect != want.Effect || got.Level != want.Level || got.Verdict != want.Verdict ||
			!reflect.DeepEqual(got.OverSeeds, want.OverSeeds) {
			t.Errorf("%s: %s, in the gallery %s", c.id, got, want)
		}
	}
}
