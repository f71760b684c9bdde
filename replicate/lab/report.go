package lab

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// BibTeX is how the paper is cited.
const BibTeX = `@inproceedings{fakoor2024timevarying,
  title     = {Time-Varying Propensity Score to Bridge the Gap between the Past and Present},
  author    = {Fakoor, Rasool and Mueller, Jonas and Lipton, Zachary C. and Chaudhari, Pratik and Smola, Alexander J.},
  booktitle = {International Conference on Learning Representations},
  year      = {2024}
}`

var (
	//go:embed report.html
	reportText     string
	reportTemplate = template.Must(figures.Parts().New("report").Parse(reportText))
)

// ReportTitle is the title of the page of a report.
const ReportTitle = "Time-varying propensity scores: the figures of the paper, replicated"

// reportPage is what report.html shows.
type reportPage struct {
	Title, Counts string
	Style         template.CSS
	Basis         []string
	Figures       []reportFigure
	SettingsHead  []string // the scenarios
	Settings      [][]string
	Provenance    []fact
	BibTeX        string
}

type reportFigure struct {
	claims.State
	Answer  []figures.Answer
	Tally   string
	Caption string
	Panels  []reportPanel
	Claims  []figures.Claim
	Source  []string
	Commits string
}

type reportPanel struct {
	figures.PanelPart
	Scenario, Changes string
}

// fact is a line of the provenance.
type fact struct{ Name, Value string }

// Report returns a page of what is stored of every figure, and computes nothing: answers, pictures, claims, tables,
// settings, provenance. The page is one file of HTML that loads nothing, runs no script and names no host, path or
// time: the same runs give the same bytes. Errors are those of Verify.
func (l *Lab) Report(ctx context.Context, o Options) ([]byte, error) {
	page := reportPage{Title: ReportTitle, BibTeX: BibTeX}
	v, all, err := l.verify(ctx, o)
	if err != nil {
		return nil, err
	}
	results := map[string]*runs.Result{}
	var drawn []figures.Figure
	for i, f := range all {
		f.Claims = v.Of(f.Name())
		section, figure, err := l.section(o, v, v.Figures[i], f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		page.Figures = append(page.Figures, section)
		drawn = append(drawn, figure)
		maps.Copy(results, f.Evidence.Runs(f.Panels))
	}
	page.Basis, page.Counts, page.Style = v.Basis(), claims.CountVerdicts(v.Claims), figures.CSS(drawn...)
	if o.Scale == experiment.Tiny {
		page.Counts = "The scale tiny checks the program, not the paper: these verdicts say nothing about it"
	}
	page.Provenance = append(provenanceOf(results),
		fact{"Report made by", fmt.Sprintf("commit %s, %s", shortCommit(l.Provenance()), o.Command("report"))})
	if page.SettingsHead, page.Settings, err = l.scenarioTable(o.Scale); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := reportTemplate.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("the report cannot be written: %w", err)
	}
	return out.Bytes(), nil
}

// section is a figure's part of the report, with what is drawn in it.
func (l *Lab) section(o Options, v claims.Verification, s claims.State, f claims.Figure) (reportFigure, figures.Figure,
	error) {
	shown := v.Shown(f.Figure, s.Command)
	out := reportFigure{State: s, Answer: shown.Answer, Tally: shown.Tally, Caption: shown.Caption, Claims: shown.Claims}
	r, err := l.describe(o, f, nil)
	if err != nil || len(r.Figure.Panels) == 0 {
		return out, figures.Figure{}, err
	}
	out.Source, out.Commits = r.Figure.Source, strings.Join(commitsOf(f.Evidence.Runs(f.Panels)), ", ")
	for _, panel := range r.Figure.Panels {
		at := slices.IndexFunc(f.Panels, func(c claims.Collected) bool { return c.Key == panel.Key })
		shown, err := l.newReportPanel(r.Figure, panel, f.Panels[at].Panel, o.Scale)
		if err != nil {
			return reportFigure{}, figures.Figure{}, err
		}
		out.Panels = append(out.Panels, shown)
	}
	return out, r.Figure, nil
}

// newReportPanel is a panel's part of the report, with those of its settings that differ from its scenario's at the
// scale.
func (c Catalog) newReportPanel(f figures.Figure, p figures.Panel, plan claims.Panel,
	scale experiment.Scale) (reportPanel, error) {
	part, err := figures.NewPanelPart(f, p)
	if err != nil {
		return reportPanel{}, err
	}
	base, err := c.Setup(plan.Scenario, scale, nil)
	if err != nil {
		return reportPanel{}, err
	}
	var changes []string
	usual := base.Fields()
	for i, field := range plan.Settings.Fields() {
		if field.Value != usual[i].Value {
			changes = append(changes, field.Name+"="+field.Value)
		}
	}
	part.Title = fmt.Sprintf("(%s) %s", p.Key, p.Title)
	return reportPanel{part, plan.Scenario, strings.Join(changes, ", ")}, nil
}

// scenarioTable lists the settings of each scenario of the catalog at a scale, one row a setting.
func (c Catalog) scenarioTable(scale experiment.Scale) (head []string, rows [][]string, err error) {
	head = []string{"setting"}
	var names []string                // of all settings
	var scenarios []map[string]string // their settings
	for _, f := range c.FiguresAt(scale) {
		for _, p := range f.Panels {
			if slices.Contains(head, p.Scenario) {
				continue
			}
			s, err := c.Setup(p.Scenario, scale, nil)
			if err != nil {
				return nil, nil, err
			}
			values := map[string]string{}
			for _, field := range s.Fields() {
				values[field.Name] = field.Value
				if !slices.Contains(names, field.Name) {
					names = append(names, field.Name)
				}
			}
			head, scenarios = append(head, p.Scenario), append(scenarios, values)
		}
	}
	for _, name := range names {
		row := []string{name}
		for _, values := range scenarios {
			row = append(row, values[name]) // "" if the scenario does not have it
		}
		rows = append(rows, row)
	}
	return head, rows, nil
}

// provenanceOf says where runs come from: how many, and which commits, backends, plugins and versions computed them.
func provenanceOf(results map[string]*runs.Result) []fact {
	out := []fact{
		{"Runs", fmt.Sprint(len(results))},
		{"Commits of the runs", cmp.Or(strings.Join(commitsOf(results), ", "), "unknown")},
	}
	for _, name := range []string{"backend", "plugin", "plugin-sha256", "platform", "go",
		"github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla"} {
		values := distinct(results, func(p runs.Provenance) []string {
			own := map[string]string{"backend": p.Backend, "platform": p.Platform}
			return []string{cmp.Or(own[name], p.Versions[name])}
		})
		if len(values) > 0 {
			out = append(out, fact{name, withoutFolders(strings.Join(values, ", "))})
		}
	}
	return out
}

func commitsOf(results map[string]*runs.Result) []string {
	return distinct(results, func(p runs.Provenance) []string { return p.Commits })
}

// distinct collects what runs say of themselves, sorted, without what is empty.
func distinct(results map[string]*runs.Result, of func(runs.Provenance) []string) []string {
	var out []string
	for _, r := range results {
		out = append(out, of(r.Provenance)...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(value string) bool { return value == "" })
}

var folders = regexp.MustCompile(`(^|[\s"(=])/(?:[^\s/:"]+/)*`)

// withoutFolders shortens the absolute paths in a text to their last names.
func withoutFolders(text string) string { return folders.ReplaceAllString(text, "$1") }
