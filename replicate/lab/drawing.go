package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// drawing is a panel as it is drawn, and what is drawn with its rows.
type drawing struct {
	claims.Collected
	absent []string           // series that lack runs
	narrow []claims.Collected // further samples of the panel, which claims are judged by
	others []figures.Row      // further steps that the drawn figure in the tables has
	films  []figures.Film
}

// drawings returns the panels of which something can be drawn. Compact figures have the further steps.
func drawings(a claims.Archive, panels []claims.Collected, compact bool) ([]drawing, error) {
	var out []drawing
	for _, c := range panels {
		if c.Narrow {
			continue
		}
		var d drawing
		var ok bool
		if d.Collected, d.absent, ok = c.Drawable(); !ok {
			continue
		}
		d.narrow = claims.NarrowOf(panels, c.Key)
		if compact {
			d.others = d.Written(a.Tables.Others(d.Collected, d.narrow))
		}
		var err error
		if d.films, err = films(a, d.Panel); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// described describes what can be drawn of panels, and of the draft that they are if it is not nil.
func (l *Lab) described(f paper.Figure, o Options, panels []claims.Collected, judged []claims.Judged,
	draft *figures.Draft) (*Result, error) {
	drawn, err := drawings(l.Archive, panels, o.Compact)
	if err != nil {
		return nil, err
	}
	return describe(f, o, drawn, judged, l.Provenance(), draft)
}

// claimsFile is the name of the file with a figure's verdicts.
const claimsFile = "claims.json"

// draw describes what can be drawn of panels, and writes the files, if there is anything. A draft has no verdicts, and
// is not printed.
func (l *Lab) draw(f paper.Figure, o Options, panels []claims.Collected, judged []claims.Judged,
	draft *figures.Draft) (*Result, error) {
	r, err := l.described(f, o, panels, judged, draft)
	if err != nil || len(r.Figure.Panels) == 0 {
		return r, err
	}
	verdicts := filepath.Join(o.Out, claimsFile)
	if draft != nil { // those of an earlier drawing
		if err := os.Remove(verdicts); err != nil && !os.IsNotExist(err) {
			return r, err
		}
	}
	if err := figures.Write(r.Figure, r.Rows, r.Record, o.Out); err != nil || draft != nil {
		return r, err
	}
	judged = r.Claims
	if o.Scale == experiment.Tiny {
		judged = claims.Unjudged(judged)
	}
	if err := WriteJSON(verdicts, judged); err != nil || o.AllFigures {
		return r, err
	}
	return r, l.print(o, r)
}

// films shows an episode of the last evaluation of every series that has one, next to each other, for the first of the
// seeds with the most films; without any, the film of the drawn figure in the tables. A panel of another metric has the
// runs of one that shows them.
func films(a claims.Archive, p claims.Panel) ([]figures.Film, error) {
	if p.Metric != "" {
		return nil, nil
	}
	var most []figures.Film
	var seed int64
	for _, s := range p.Seeds {
		if films := filmsOf(p, s, a.Store); len(films) > len(most) {
			most, seed = films, s
		}
	}
	switch len(most) {
	case 0:
		if a.Tables == nil {
			return nil, nil
		}
		return filmOfTables(a.Tables.Dir, p), nil
	case 1:
		return most, nil
	}
	var names []string
	for _, film := range most {
		names = append(names, film.Name)
	}
	all, err := figures.SideBySide(sideBySide, filmTitle(p, seed, names...), most)
	return []figures.Film{all}, err
}

// filmsOf returns the film of every series that has one for the seed. A run that is stored to a later step than the
// panel's last has the film of that step, which is none of the panel's.
func filmsOf(p claims.Panel, seed int64, store *runs.Store) []figures.Film {
	var out []figures.Film
	for _, job := range p.Jobs {
		if job.Spec.Seed != seed || !slices.Contains(p.Series, job.Series) {
			continue
		}
		last := slices.Max(job.Steps)
		later := func(step int) bool { return step > last }
		film := store.Attached(job.Spec, experiment.Film)
		if film != nil && !slices.ContainsFunc(store.Steps(job.Spec), later) {
			out = append(out, figures.Film{Name: job.Series, Title: filmTitle(p, seed, job.Series), SVG: film})
		}
	}
	return out
}

func filmTitle(p claims.Panel, seed int64, series ...string) string {
	return fmt.Sprintf("%s after %d %s, seed %d, one evaluation episode",
		strings.Join(looks.Labels(series...), ", "), p.Settings.Length(), p.Protocol.Unit, seed)
}

// sideBySide is the name of the film of all learners.
const sideBySide = "learners"

// longestFilm limits what is read of a film, in bytes: those of the gallery have a thirtieth of it.
const longestFilm = 32 << 20

// filmOfTables returns the film of the learners next to each other that the drawn figure has for the panel, if its
// title says that it is of the panel's learners, of as many episodes, and of one of its seeds; otherwise none.
func filmOfTables(dir string, p claims.Panel) []figures.Film {
	film := figures.Film{Name: sideBySide}
	name := figures.Figure{Name: p.Figure}.FilmStem(figures.Chart{Key: p.Key}, film) + ".svg"
	svg, err := artifact.ReadFile(filepath.Join(dir, p.Figure, name), longestFilm)
	if err != nil {
		return nil
	}
	for _, seed := range p.Seeds {
		if film.Title = filmTitle(p, seed, p.Trained()...); figures.TitleOf(svg) == film.Title {
			film.SVG = svg
			return []figures.Film{film}
		}
	}
	return nil
}
