package lab

import (
	"os"
	"path/filepath"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// drawing is a panel as it is drawn, and what is drawn with its rows.
type drawing struct {
	claims.Collected
	absent  []string           // series that lack runs
	narrow  []claims.Collected // further samples of the panel, which claims are judged by
	judged  []figures.Row      // of those
	metrics []figures.Row      // what its runs measured besides what it shows
	others  []figures.Row      // further steps that the drawn figure in the tables has
}

// drawings returns the panels of which something can be drawn. Compact figures have the further steps.
func drawings(a claims.Archive, panels []claims.Collected, compact bool) []drawing {
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
		d.metrics, d.narrow = d.OtherMetrics(), claims.NarrowOf(panels, c.Key)
		for _, n := range d.narrow {
			d.judged = append(d.judged, n.Written(n.Judging())...)
		}
		if compact {
			d.others = d.Written(a.Tables.Others(d.Collected, d.narrow))
		}
		out = append(out, d)
	}
	return out
}

// described describes what can be drawn of panels, and of the draft that they are if it is not nil.
func (l *Lab) described(f paper.Figure, o Options, panels []claims.Collected, judged []claims.Judged,
	draft *figures.Draft) (*Result, error) {
	return describe(f, o, drawings(l.Archive, panels, o.Compact), judged, l.Provenance(), draft)
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
	judged = []claims.Judged{}
	if o.Scale != experiment.Tiny { // as TinyNote says
		judged = append(judged, r.Claims...)
	}
	if err := WriteJSON(verdicts, judged); err != nil || o.AllFigures {
		return r, err
	}
	return r, l.print(o, r)
}
