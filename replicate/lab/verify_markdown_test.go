package lab

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/ci/research/grid"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat/distuv"
)

// committed returns the committed results of a gallery, which the documents quote.
func committed(t *testing.T, dir string) claims.Verification {
	t.Helper()
	text := demand.Read(t, filepath.Join(dir, "verify.json"))
	var v claims.Verification
	demand.NoError(t, json.Unmarshal(text, &v))
	return v
}

// judged are the claims as README.md counts them: at the medium scale, if they were run there.
func judged(t *testing.T) []claims.Judged {
	t.Helper()
	return committed(t, gallery).With(committed(t, medium)).Claims
}

// The gallery has the figures at the small scale, and in a folder those at the medium scale.
var (
	gallery = filepath.Join("..", "..", "figures", "gallery")
	medium  = filepath.Join(gallery, "medium")
)

var update = flag.Bool("update", false, "rewrite the generated parts of README.md and the gallery's pages")

// TestGeneratedTables: the tables in README.md and in the gallery are those of the committed results.
func TestGeneratedTables(t *testing.T) {
	v, trained := committed(t, gallery), committed(t, medium).Ran()
	for _, c := range []struct{ file, block, want string }{
		{filepath.Join("..", "..", "README.md"), "claims", summary(v, trained)},
		{filepath.Join("..", "..", "README.md"), "answers", answers(t)},
		{filepath.Join(gallery, "README.md"), "gallery", galleryText(v, testCatalog.Figures, gallery, trained)},
		{filepath.Join(medium, "README.md"), "gallery", claimsText(trained, testCatalog.Figures)},
		{filepath.Join("..", "README.md"), "figures", figureTable(testCatalog.Figures)},
	} {
		if *update {
			text, err := demand.SetBlock(demand.Read(t, c.file), c.block, c.want)
			demand.NoError(t, err)
			demand.Write(t, c.file, text)
		}
		if got, err := demand.Block(demand.Read(t, c.file), c.block); err != nil || got != c.want {
			t.Errorf("%s, block %s: it differs (%v). `go test ./replicate/lab -run Generated -update` rewrites it; it must be\n%s",
				c.file, c.block, err, c.want)
		}
	}
}

// figureTable is the table of figures in replicate/README.md.
func figureTable(all []paper.Figure) string {
	rows := [][]string{{"figure", "shows", "command", "time at small", "shares runs with"}}
	for _, f := range all {
		_, shows, _ := strings.Cut(f.Title, ": ")
		rows = append(rows, []string{fmt.Sprint(f.Number), shows, "`" + f.Command() + "`", f.Time, f.Shares})
	}
	return grid.Markdown(rows)
}

const bibTeX = `@inproceedings{fakoor2024timevarying,
  title     = {Time-Varying Propensity Score to Bridge the Gap between the Past and Present},
  author    = {Fakoor, Rasool and Mueller, Jonas and Lipton, Zachary C. and Chaudhari, Pratik and Smola, Alexander J.},
  booktitle = {International Conference on Learning Representations},
  year      = {2024}
}`

// TestReadme: README.md cites the paper, two fifths of the claims that it counts hold, and the return that it quotes
// with its level's interval is that of the committed results.
func TestReadme(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	demand.Words(t, readme, bibTeX)
	all := committed(t, medium).Claims
	p := all[slices.IndexFunc(all, func(c claims.Judged) bool { return c.ID == "fig2b-omega-context" })].Parts[0]
	text := fmt.Sprintf("earns %.1f more (%.1f to %.1f)", p.Effect.Mean, p.Effect.Low, p.Effect.High)
	if p.Verdict != claims.Holds || !strings.Contains(readme, text) {
		t.Errorf("README.md lacks %q; the claim %s", text, p.Verdict)
	}
	count := regexp.MustCompile(`(\d+) claims: (\d+) hold`).FindStringSubmatch(readme)
	if count == nil {
		t.Fatal("README.md does not count the claims")
	}
	total, err := strconv.ParseFloat(count[1], 64)
	demand.NoError(t, err)
	hold, err := strconv.ParseFloat(count[2], 64)
	demand.NoError(t, err)
	if hold < .35*total || hold > .45*total || !strings.Contains(readme, "Two fifths of it; a third is undecided.") {
		t.Errorf("%g of %g claims hold, and README.md speaks of two fifths of the paper", hold, total)
	}
}

// TestAnswers: what README.md says below its table of differences, in words and numbers, follows from the committed
// results.
func TestAnswers(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	parts := map[string]claims.JudgedPart{} // by claim, and number of the part
	for _, c := range judged(t) {
		for i, p := range c.Parts {
			parts[fmt.Sprint(c.ID, "/", i)] = p
		}
	}
	for words, want := range map[string]map[string]claims.Verdict{
		"on three of five streams (": {"fig1a-ours-everything/0": claims.Holds, "fig1-ours-everything/0": claims.Undecided,
			"fig1-ours-everything/1": claims.Holds, "fig6a-ours-everything/0": claims.Holds},
		"without a shift equal within 0.3†, as Methods 1 and 2 are on CIFAR-10a and b": {"fig14-similar/0": claims.Holds,
			"fig8-similar/0": claims.Holds, "fig8-similar/1": claims.Holds},
		"does better than in": {"fig1-recent-everything/0": claims.DoesNotHold, "fig1-recent-everything/1": claims.DoesNotHold},
		"no: correlations":    {"fig3b-standard-ignores/0": claims.DoesNotHold, "fig5b-standard-ignores/0": claims.DoesNotHold},
	} {
		for part, verdict := range want {
			if !strings.Contains(readme, words) || parts[part].Verdict != verdict {
				t.Errorf("README.md says %q: %s %s", words, part, parts[part].Verdict)
			}
		}
	}
	if e := parts["fig13-ours-finetune/3"].Effect; e.Low > 0 || !strings.Contains(readme, "with 300 Ours is not shown to beat Fine-tune") {
		t.Errorf("README.md speaks of 300 samples, with which Ours is ahead of Fine-tune by %v", e)
	}
	for panel, name := range map[string]string{"b": "CIFAR-10a", "c": "CIFAR-10b"} {
		rows := mediumRows(t, "fig01", "fig01-"+panel+".csv")
		for _, series := range []string{"everything", "recent", "finetune", "ours"} {
			if e := sampledEffect(t, rows, series, "pretrained"); e(.975).Low > 0 {
				t.Errorf("README.md says that no learner is shown to beat no adaptation: %s, %s does by %v", name, series, e(.975))
			}
		}
	}
	demand.Words(t, strings.Join(strings.Fields(readme), " "), "with 20 epochs no learner is shown to beat a network that is not adapted")
	e := sampledEffect(t, folderRows(t, filepath.Join(gallery, "archive", "mixture", "periodic"), "fig01-a.csv"),
		"everything", "ours")(statistics.Level)
	demand.Words(t, readme, fmt.Sprintf("[%.1f (%.1f to %.1f) behind]", 100*e.Mean, 100*e.Low, 100*e.High))
	var ahead []any // with 50 and 100 samples
	for _, panel := range []string{"b", "c"} {
		rows := folderRows(t, filepath.Join(gallery, "fig13"), "fig13-"+panel+".csv")
		ahead = append(ahead, 100*sampledEffect(t, rows, "ours", "recent")(.95).Mean)
		for _, series := range []string{"recent", "finetune"} {
			if e := sampledEffect(t, rows, series, "everything")(statistics.Level); e.High > 0 {
				t.Errorf("README.md says that with few samples %s is worse than Everything: panel %s, %v", series, panel, e)
			}
		}
	}
	demand.Words(t, readme, fmt.Sprintf("a step† Ours is %.1f and %.1f ahead of Recent, and Recent and Fine-tune are worse", ahead...))
	readings := string(demand.Read(t, filepath.Join(gallery, "archive", "readings", "README.md")))
	earlier := regexp.MustCompile(`fig3b-standard-ignores.*rate-constant \(\+(\d\.\d\d)\)`).FindStringSubmatch(readings)
	demand.Words(t, readme, fmt.Sprintf("no: correlations with the true score of %.2f (CIFAR-10b; %s† with an earlier training of "+
		"g) and %.2f (Figure 5's stream).", parts["fig3b-standard-ignores/0"].Effect.Mean, earlier[1],
		parts["fig5b-standard-ignores/0"].Effect.Mean))
	last := regexp.MustCompile(`standard-ignores.*window-20 \(\+?(\d\.\d\d)\)`).FindAllStringSubmatch(readings, -1)
	worse := regexp.MustCompile(`fig3a-ours-standard.*window-20 \(\+(\d\.\d) points`).FindStringSubmatch(readings)
	demand.Words(t, readme, fmt.Sprintf("With the last 20, yes: %s on CIFAR-10b, where it is %s† worse;", last[0][1], worse[1]))
	if n := regexp.MustCompile(`Of (\d+) claims, (\d+) hold[^.]*\.\*\*[^.]*verdict on (\d+) of them`).FindStringSubmatch(readings); n == nil {
		t.Error("the page of readings does not say how many claims depend on them")
	} else {
		demand.Words(t, readme, fmt.Sprintf("Of %s claims†, [%s hold by one reading]", n[1], n[2]),
			fmt.Sprintf("%s have another verdict, if only", n[3]))
	}
}

// sampledEffect is the difference of two series' accuracy over seeds, whose steps stand for those between them.
func sampledEffect(t *testing.T, rows []figures.Row, series, base string) statistics.Intervals {
	t.Helper()
	m, err := claims.NewEffect(rows, paper.Part{Panel: rows[0].Panel, Series: series, Base: base}, "accuracy", true)
	demand.NoError(t, err)
	return m.Interval
}

// TestAnswersOfTheStudy: what README.md and a claim's note say of the study of readings follows from its table.
func TestAnswersOfTheStudy(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	study := string(demand.Read(t, filepath.Join(gallery, "archive", "interpretations", "measured.md")))
	gain := func(row string, column int) string {
		line := regexp.MustCompile(`(?m)^\| ` + row + `.*$`).FindString(study) // the first one is of the Gaussian
		return strings.TrimPrefix(strings.Fields(strings.Split(line, "|")[column])[0], "+")
	}
	const ours, standard = 6, 8
	note := fmt.Sprintf("gains %s, %s and %s points over Everything, and Ours %s", gain("default", standard),
		gain("`window=5`", standard), gain("`window=20`", standard), gain("default", ours))
	if !slices.ContainsFunc(paper.Fig5().Claims, func(c paper.Claim) bool { return strings.Contains(c.Note, note) }) {
		t.Errorf("the note of Figure 5 does not say %q", note)
	}
	const few, passes, cifar = "`g-rate=1e-4 g-updates=200`", "`g-rate=1e-4 g-epochs=200`", "g-schedule=constant g-join=first "
	last := regexp.MustCompile(`(?m)^.*` + cifar + `g-epochs=200.*\| .?(.*) \[(.*), (.*)\] \|( \|)+$`).FindStringSubmatch(study)
	demand.Words(t, readme, fmt.Sprintf("Ours gains %s on the Gaussian, %s† on "+
		"CIFAR-10b (its network on pixels: %s†);", gain(few, ours), gain(strings.Replace(few, "g-u", cifar+"g-u", 1), ours),
		gain(strings.Replace(few, "g-u", cifar+"g-network=conv5 g-input=pixels g-hidden=32 g-u", 1), ours)),
		fmt.Sprintf("for 200 passes %s (our training as much) and %s† (%s to %s; ours 1.0).",
			gain(passes, ours), last[1], last[2], last[3]))
	if !strings.Contains(readme, "[24 worse]") || gain("default", ours) != "28.2" || gain("`window=20`", standard) != "4.1" {
		t.Error("README.md says that the standard score with a window of 20 is 24 worse than Ours")
	}
}

// TestGalleryNumbers: what the gallery's README says of runs that no claim has follows from their tables, and what it
// says of the open claim of Figure 9 from the committed results.
func TestGalleryNumbers(t *testing.T) {
	gain := sampledEffect(t, folderRows(t, filepath.Join(gallery, "fig14-recent"), "fig14-a.csv"), "recent", "everything")
	mean, low, high := figures.Short(gain(statistics.Level), figures.Points)
	demand.Words(t, string(demand.Read(t, filepath.Join(gallery, "README.md"))),
		fmt.Sprintf("%s [%s, %s] points of", mean, low, high))
	all := committed(t, gallery).Claims
	p := all[slices.IndexFunc(all, func(c claims.Judged) bool { return c.ID == "fig9-grows" })].Parts[0]
	demand.Words(t, string(demand.Read(t, filepath.Join(gallery, "README.md"))), fmt.Sprintf(
		"%+.3f [%+.3f, %+.3f] | every step: at the measured ones alone it is [%+.3f, %+.3f] |", p.Effect.Mean, p.Effect.Low,
		p.Effect.High, p.OverSeeds.Low, p.OverSeeds.High))
}

// TestFigureHeads: the comment at the head of each figure's file states the result of the committed gallery and the
// command.
func TestFigureHeads(t *testing.T) {
	v := committed(t, gallery)
	for _, f := range testCatalog.Figures {
		text := demand.Read(t, filepath.Join("..", "paper", f.Name()+".go"))
		unwrapped := regexp.MustCompile("\n// (\\S)").ReplaceAllString(string(text), " $1")
		demand.Words(t, unwrapped, fmt.Sprintf("Fig%d declares Figure %d: ", f.Number, f.Number),
			"Command: go run ./replicate "+f.Command(),
			fmt.Sprintf("Result at the small scale: %s; see figures/gallery/%s.", v.Shown(f, "").Tally,
				f.Name()))
	}
}

// mediumRows reads tables of the gallery at the medium scale.
func mediumRows(t *testing.T, folder string, names ...string) []figures.Row {
	t.Helper()
	return folderRows(t, filepath.Join(medium, folder), names...)
}

// folderRows are the rows of tables of a drawn figure.
func folderRows(t *testing.T, dir string, names ...string) (rows []figures.Row) {
	t.Helper()
	f, err := figures.OpenFolder(dir)
	demand.NoError(t, err)
	for _, name := range names {
		some, err := f.Rows(name)
		demand.NoError(t, err)
		rows = append(rows, some...)
	}
	return rows
}

// effect is a part's statistic of a metric over seeds.
func effect(t *testing.T, rows []figures.Row, p paper.Part, metric string) statistics.Intervals {
	t.Helper()
	e, err := claims.NewEffect(rows, p, metric, false)
	demand.NoError(t, err)
	return e.Interval
}

// fewest is the smallest number of seeds at which a condition on it and on Student's quantile of the level holds.
func fewest(level float64, holds func(n, quantile float64) bool) float64 {
	n := 2.
	for !holds(n, distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.5+level/2)) {
		n++
	}
	return n
}

// TestClaw: what the page of robots says of the D'Claw, and of how many seeds would decide it, follows from the tables.
func TestClaw(t *testing.T) {
	page := string(demand.Read(t, filepath.Join(gallery, "archive", "robots.md")))
	plain := distuv.UnitNormal
	for _, c := range []struct {
		folder, title, base string
		look                float64 // the next one
	}{{"fig02", "2 repeats", "sac", 2}, {"fig10", "25 repeats", "sac", 3}, {"fig11", "25 repeats", "sac-context", 3}} {
		rows := mediumRows(t, c.folder, c.folder+"-a.csv", c.folder+"-a-metrics.csv")
		e := effect(t, rows, paper.Part{Panel: "a", Series: c.base + "-omega", Base: c.base}, "return")(statistics.Level)
		n := float64(e.N)
		sd := (e.High - e.Low) / 2 * math.Sqrt(n) / distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.975)
		level := 1 - (1-statistics.Level)/c.look
		narrow := fewest(level, func(n, q float64) bool { return q*sd/math.Sqrt(n) <= 65 })
		none := fewest(level, func(n, q float64) bool { // Student's interval lies within the margin in 80% of samples
			power, grid := 0., 200
			for i := range grid {
				s := math.Sqrt(distuv.ChiSquared{K: n - 1}.Quantile((float64(i)+.5)/float64(grid)) / (n - 1))
				power += max(0, 2*plain.CDF(65*math.Sqrt(n)/sd-q*s)-1) / float64(grid)
			}
			return power >= .8
		})
		of := map[string]string{"sac": "SAC", "sac-context": "SAC with context"}[c.base] + ", " + c.title
		row := fmt.Sprintf("| %s | 0-%d | %.0f [%.0f, %.0f]", of, e.N-1, e.Mean, e.Low, e.High)
		demand.Words(t, page, row)
		_, cells, _ := strings.Cut(page, row)
		cells, _, _ = strings.Cut(cells, "\n")
		if want := fmt.Sprintf("| %.0f | %.0f | %.0f |", sd, narrow, none); !strings.HasSuffix(cells, want) {
			t.Errorf("%s: %q, want %q", of, cells, want)
		}
		late := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.T <= 1500 })
		for _, series := range []string{c.base, c.base + "-omega", "scripted", "nothing"} {
			p := paper.Part{Panel: "a", Series: series, Statistic: paper.End}
			cells := fmt.Sprintf("| %.0f | %.0f | ", effect(t, rows, p, "return")(.95).Mean, effect(t, rows, p, "return-valve-0")(.95).Mean)
			if strings.HasPrefix(series, "sac") {
				p.Statistic = paper.Slope // in 100 episodes
				cells += fmt.Sprintf("%.0f |", 10*effect(t, late, p, "return")(.95).Mean)
			}
			demand.Words(t, page, cells)
		}
	}
	demand.Words(t, strings.Join(strings.Fields(string(demand.Read(t, filepath.Join(medium, "README.md")))), " "),
		"rise by 200 to 470 in 1,000 episodes", "84 to 182 seeds, some 85 core hours")
}

// TestOmegaOnRobots: what README.md says of omega on Half-Cheetah, and that page, follow from the tables of ten seeds.
func TestOmegaOnRobots(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	page := string(demand.Read(t, filepath.Join(gallery, "archive", "robots.md")))
	young := slices.DeleteFunc(mediumRows(t, "fig02-age-plain", "fig02-b.csv"), func(r figures.Row) bool {
		return r.Series != "sac-geometric"
	})
	rows := slices.Concat(mediumRows(t, "fig02-age", "fig02-b.csv"), young)
	const context = "sac-context"
	for words, p := range map[string]paper.Part{
		"Against plain SAC it is open: %s":         {Panel: "b", Series: context + "-omega", Base: "sac"},
		"show no such gain: %s":                    {Panel: "b", Series: context + "-age", Base: context},
		"a young replay may: %s":                   {Panel: "b", Series: context + "-geometric", Base: context},
		"has the best mean of the learners, by %s": {Panel: "b", Series: "sac-geometric", Base: context + "-omega"},
	} {
		of := effect(t, rows, p, "return")
		e := of(statistics.Level)
		judged := e
		if p.Base == "sac" { // as its claim is judged
			judged = of(.975)
		}
		demand.Words(t, readme, fmt.Sprintf(words, fmt.Sprintf("%.1f (%.1f to %.1f)", judged.Mean, judged.Low, judged.High)))
		demand.Words(t, page, fmt.Sprintf("| 0-9 | %.1f [%.1f, %.1f] |", e.Mean, e.Low, e.High))
		if e.Low > 0 {
			t.Errorf("README.md says %q, the interval is above 0", words)
		}
	}
	above := 0
	for seed := range int64(10) {
		of := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.Seed != seed })
		if effect(t, of, paper.Part{Panel: "b", Series: context + "-omega", Base: "sac"}, "return")(statistics.Level).Mean > 0 {
			above++
		}
	}
	if above != 5 || !strings.Contains(readme, "five of ten seeds") {
		t.Errorf("of ten seeds %d earn more with context and omega than plain SAC", above)
	}
	best, top := "", math.Inf(-1)
	for _, folder := range []string{"fig02-age", "fig02-age-plain"} {
		all := mediumRows(t, folder, "fig02-b.csv")
		for _, series := range []string{"", "-omega", "-age", "-geometric"} {
			if folder == "fig02-age" {
				series = "-context" + series
			}
			p := paper.Part{Panel: "b", Series: "sac" + series, Statistic: paper.Level}
			if e := effect(t, all, p, "return")(statistics.Level); e.Mean > top {
				best, top = p.Series, e.Mean
			}
		}
	}
	if best != "sac-geometric" {
		t.Errorf("%s earns most, README.md says plain SAC that replays young episodes", best)
	}
}
