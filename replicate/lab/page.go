package lab

import (
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
)

// fillPage adds what the figure's page shows next to its charts.
func (l *Lab) fillPage(f paper.Figure, o Options, plan []PanelPlan, r *Result) {
	page := &r.Figure
	for _, c := range r.Claims {
		page.Claims = append(page.Claims, c.onPage())
	}
	page.Tables = r.Tables
	for _, p := range plan {
		if note := p.Source.Note; note != "" && !slices.Contains(page.Data, note+".") {
			page.Data = append(page.Data, note+".")
		}
	}
	page.Command = o.pageCommand(f)
	if page.Draft == nil {
		page.Links = append(page.Links, figures.Link{Label: "Claims with all numbers", Text: claimsFile, Href: claimsFile})
	}
	if folders, results := experimentsOf(plan), r.evidence.with(r.Report.Results); len(results) > 0 {
		label := fmt.Sprintf("%d stored runs, below the folder of --results", len(results))
		page.Links = append(page.Links, figures.Link{Label: label, Text: strings.Join(folders, ", ")})
	}
}

// experimentsOf lists the folders of the runs of a plan in the store.
func experimentsOf(plan []PanelPlan) []string {
	var out []string
	for _, job := range jobsOf(plan) {
		out = append(out, job.Spec.Experiment)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pageCommand is the command that makes the figure with these options. Options given for several figures may not all
// apply to this one: then it is the command for all figures.
func (o Options) pageCommand(f paper.Figure) string {
	name := f.Command()
	if o.AllFigures && len(o.Overrides) > 0 {
		name = "all"
	}
	command := o.Command(name)
	if len(o.Panels) > 0 {
		command += " --panel " + strings.Join(o.Panels, ",")
	}
	if len(o.Learners) > 0 {
		command += " --series " + strings.Join(o.Learners, ",")
	}
	return command
}

// outcomes gives each verdict its look on a page.
var outcomes = map[Verdict]figures.Outcome{
	Holds: figures.Confirmed, Partly: figures.Mixed, DoesNotHold: figures.Contradicted,
	NoDifference: figures.Contradicted, Undecided: figures.Open,
	NotRun: figures.Missing, NotJudged: figures.Missing, OnStandIn: figures.Missing,
}

// outcome gives the part's verdict its look; one on a stand-in counts as none.
func (p JudgedPart) outcome() figures.Outcome {
	if p.onStandIn() {
		return figures.Missing
	}
	return outcomes[p.Verdict]
}

// onPage is the claim as a page shows it.
func (j Judged) onPage() figures.Claim {
	c := figures.Claim{ID: j.ID, Text: j.Text, Place: j.Place, Says: j.Says, Verdict: figures.Verdict{Word: j.Result(), Outcome: outcomes[j.Verdict]}}
	for _, p := range j.Shown() {
		c.Parts = append(c.Parts, figures.ClaimPart{
			What: what(p.Part), Panel: p.panel(), Effect: p.Effect, Steps: p.steps(),
			Verdict: figures.Verdict{Word: p.Result(), Outcome: p.outcome()},
		})
	}
	return c
}
