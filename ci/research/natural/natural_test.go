package natural

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
	"tvps/replicate/tables/backtest"
)

const gallery = "../../../figures/gallery/archive/natural-drift"

// stored are the losses in the gallery, read once: they keep the intervals that are found.
var stored = sync.OnceValues(func() ([]*Losses, error) { return Read(gallery) })

// TestStored: the table in the repository gives the stored losses again.
func TestStored(t *testing.T) {
	rush, logistic := Datasets[0], Suites[1]
	folder := t.TempDir()
	demand.Write(t, filepath.Join(folder, "tables", rush.File()),
		demand.Read(t, filepath.Join(gallery, "tables", rush.File())))
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	demand.NoError(t, Run(context.Background(), backtest.Host{Store: store, Workers: 2}, logistic, rush, folder))
	got, err := read(lossFile(folder, rush, logistic))
	demand.NoError(t, err)
	want, err := read(lossFile(gallery, rush, logistic))
	demand.NoError(t, err)
	if !slices.Equal(got.Rules, want.Rules) || !slices.Equal(got.Times, want.Times) || !slices.Equal(got.Rows, want.Rows) {
		t.Fatalf("rules %v at %v, want %v at %v", got.Rules, got.Times, want.Rules, want.Times)
	}
	for i, rule := range want.Rules {
		for b, v := range want.Values[i] {
			if math.Abs(got.Values[i][b]-v) > 1e-4*v {
				t.Errorf("%s loses %g on %s, stored %g", rule, got.Values[i][b], want.Times[b], v)
			}
		}
	}
}

// TestAdvise: a rule is chosen on the one half and judged on the other, whose losses choose nothing.
func TestAdvise(t *testing.T) {
	losses := func(name string, uniform, forgetting, committee float64) *Losses {
		l := &Losses{Table: Dataset{Name: name}, Suite: Suites[0], Rules: []string{backtest.Uniform, backtest.Forgetting, backtest.Committee}}
		l.Values = make([][]float64, 3)
		for b := range 40 {
			l.Rows = append(l.Rows, 1+b%3)
			noise := .01 * float64(b*7%5-2)
			for i, v := range []float64{uniform, forgetting, committee} {
				l.Values[i] = append(l.Values[i], v+noise)
			}
		}
		return l
	}
	chooses, quoted := losses("nyse", 1, .9, .8), losses("bikes", 1, .3, .6)
	if chooses.Table.Quoted() || !quoted.Table.Quoted() {
		t.Fatal("the halves have changed")
	}
	if r := chooses.Regret(backtest.Forgetting); math.Abs(r-.1) > .001 {
		t.Errorf("the regret of .9 to .8 is %g of a loss of 1, want .1", r)
	}
	a := Advise([]*Losses{chooses, quoted}, Suites[0].Name)
	if a.Rule != backtest.Committee || a.Quoted != 1 || a.Ahead != 0 || a.Behind != 1 || a.Safe || a.Better || a.Third {
		t.Errorf("advice %+v: want the committee, which is behind on the quoted table", a)
	}
	if math.Abs(a.Regret-.3) > .001 || a.Forgetting != 0 {
		t.Errorf("mean regrets %g and %g on the quoted table, want .3 and 0", a.Regret, a.Forgetting)
	}
	demand.Words(t, a.String(), "**committee**", "On the 1 others", "on 1 (aim: none, not met)")
	null := losses("chicago", 1, 2, 3) // of the half that chooses
	null.Table.Null = true
	if b := Advise([]*Losses{chooses, quoted, null}, Suites[0].Name); b != a {
		t.Errorf("a table without drift changes the advice to %+v", b)
	}
}

// TestReport: every table and every rule stands in the text and on the pages.
func TestReport(t *testing.T) {
	all, err := stored()
	demand.NoError(t, err)
	folder := t.TempDir()
	blocks, err := Report(folder, all)
	demand.NoError(t, err)
	text := ""
	for _, b := range blocks {
		text += b.Text
		if stored := string(demand.Read(t, filepath.Join(gallery, b.Page))); !strings.Contains(stored, ":begin -->\n"+b.Text+"<!-- "+b.Name) {
			t.Errorf("%s: %s are not those of the stored losses: go run ./ci/research naturaldrift --stored", b.Page, b.Name)
		}
	}
	for _, l := range all {
		page := string(demand.Read(t, filepath.Join(folder, l.Table.Name, "README.md")))
		if page != string(demand.Read(t, filepath.Join(gallery, l.Table.Name, "README.md"))) {
			t.Errorf("the page of %s is not that of the stored losses", l.Table.Name)
		}
		for _, rule := range l.Rules {
			compared := strings.Contains(text, "| **"+rule+"**: ") || strings.Contains(text, "| "+rule+" |")
			if l.Suite.Apart() {
				continue
			}
			if !l.Table.Test && !l.Table.Null && !compared || !strings.Contains(page, "| "+rule+" |") {
				t.Errorf("%s, %s: %s is missing", l.Table.Name, l.Suite.Name, rule)
			}
		}
	}
}

// TestWords holds what the documents say, and what the back test does by default, to the stored losses.
func TestWords(t *testing.T) {
	all, err := stored()
	demand.NoError(t, err)
	check := func(ok bool, says string) {
		if !ok {
			t.Errorf("by the stored losses it is not so that %s: mend the documents", says)
		}
	}
	of := func(suite Suite) (rules map[string]Leader, n int) {
		found := Of(all, suite.Name, Drifting)
		return byRule(Leaders(found)), len(found)
	}
	trees, n := of(Suites[0])
	committee, bagged := trees[backtest.Committee], trees["bagged"]
	check(len(trees) == 10 && n == 14 && committee.Lowest == 11, "the committee has the lowest loss of ten rules on 11 of 14 tables")
	check(2*committee.Won >= n && committee.Lost == 0, "it is better than tuned forgetting on half of them, worse on none")
	check(bagged.Won > committee.Won && bagged.Lost == 1 && Of(all, Suites[0].Name, named("chicago"))[0].Against("bagged", backtest.Forgetting).Low > 0, "bagging is better on more, worse on chicago")
	houses := Of(all, Suites[0].Name, named("txhousing"))[0]
	check(houses.mean(backtest.Uniform) > 2*houses.mean(backtest.Forgetting), "equal weights have twice the loss on txhousing")
	others, also := of(Suites[2])
	mixed := others[backtest.Committee]
	check(also == n && mixed.Lowest == 12 && mixed.Won == 9, "with scikit-learn's trees the committee wins 9 of 14 tables")
	for _, rule := range []string{backtest.Uniform, backtest.Window} {
		for _, x := range []Leader{trees[rule], others[rule]} {
			check((x.Lost == 3 || x.Lost == 4) && x.Won == 0, rule+" is worse on three or four tables with trees, better on none")
		}
	}
	check(trees["tournament"].Won+trees["power-law"].Won == 0 && 2*trees["rider"].Lost >= n, "tournament and power-law win nowhere, "+
		"and rider loses on half")
	verdicts := ""
	for _, s := range models {
		rules, k := of(s)
		if k == 0 {
			continue
		}
		verdicts += rules[backtest.Committee].verdict() + ", "
	}
	check(verdicts == "ahead, no difference, ahead, ahead, ", "the committee is ahead with all models but logistic regression")
	for _, s := range Suites {
		rules, k := of(s)
		won := 0
		if s.Gap != "" {
			won = 1
		}
		check(rules[backtest.Uniform].Won == won && rules[backtest.Committee].Lost == 0, "equal weights win no table, "+
			"one if labels come late, and the committee loses none with "+s.Name)
		check(k == 0 || k >= leastTables, "something is said of "+s.Name)
	}
	ownTime := mixtureOrOwnTime(all)
	check(!strings.Contains(ownTime, "ahead") && strings.Count(ownTime, "behind") == 7, "no mixture is ahead of omega of the "+
		"own time, and all weights are behind tuned forgetting")
	late, _ := of(Suites[3])
	check(late["bagged"].Won == 10 && late["bagged"].Lost == 0 && late[backtest.Committee].Won == 7 && late[backtest.Committee].Lost == 0,
		"with late labels bagged wins ten tables, the committee seven, and none is lost")
	linear, m := of(Suites[1])
	for rule, x := range linear {
		check(x.Won <= 1, rule+" is better than tuned forgetting on at most one table with logistic regression")
	}
	check(3*linear[backtest.Uniform].Lost >= m, "equal weights are worse on a third with logistic regression")
	for _, l := range all {
		for _, rule := range l.Rules {
			better := rule == backtest.Committee || strings.HasPrefix(rule, "bagged")
			check(better || !l.Table.Null || l.Against(rule, backtest.Uniform).High >= 0, rule+" is no better than equal weights on "+
				l.Table.Name+", "+l.Suite.Name)
		}
	}

	weighted, k := of(omega)
	conditional := weighted["conditional-forgetting"]
	check(k == 14 && weighted[backtest.Committee].Lowest == 11 && conditional.Won == 2 && conditional.Lost == 4,
		"conditional-forgetting is better on two tables of 14, worse on four; the committee is best on 11")
	check(weighted["omega-x"].Won == 0 && weighted["omega-x"].Lost > 0, "omega-x is better nowhere, worse somewhere")
	check(weighted["omega-age"].Lost > 0, "omega-age is worse somewhere")
	best := weighted["omega-y-given-x"]
	check(best.Won == 2 && best.Lost == 2, "omega-y-given-x wins two tables and loses two")
	for rule, x := range weighted {
		with := strings.Contains(rule, "omega") || slices.ContainsFunc([]string{"joint", "covariate", "conditional"}, func(kind string) bool {
			return strings.HasPrefix(rule, kind)
		})
		check(!with || rule == "omega-y-given-x" || x.Lost >= 3 && x.Lost <= 7 && x.Won < x.Lost, rule+" loses three to "+
			"seven tables, and more than it wins")
	}
	for _, l := range Of(all, omega.Name, Drifting) {
		won := l.Table.Name == "covid" || l.Table.Name == "flights"
		check(l.Against("conditional-forgetting", backtest.Forgetting).High < 0 == won, "conditional-forgetting wins covid and flights")
		check(!won || l.Against(backtest.Committee, "conditional-forgetting").Mean < 0 == (l.Table.Name == "flights"),
			"conditional-forgetting has a lower loss than the committee on covid, not on flights")
	}
	where := whereOmega(Of(all, omega.Name, Drifting))
	for _, says := range []string{"No property is found", "does not judge g", "over tables -0.85 [-0.96, -0.51]"} {
		check(strings.Contains(where, says), says)
	}

	few, tuned := Of(all, averaging[0].Name, Drifting), Of(all, averaging[1].Name, Drifting)
	averaged := versus(few, "bagged", backtest.Forgetting)
	check(averaged.verdict() == "ahead", "with 60 trees averaging one time scale helps")
	averaged = versus(tuned, "bagged", backtest.Forgetting)
	check(averaged.verdict() == "no difference", "with as many trees as a model needs averaging makes no difference")
	for _, other := range []string{backtest.Forgetting, "bagged", "bagged-committee"} {
		check(versus(tuned, backtest.Committee, other).verdict() == "ahead", "the tuned trees name the committee, which is ahead of "+other)
	}

	a := Advise(all, Suites[0].Name)
	check(a.Safe && !a.Better && !a.Third, "the first aim is met and the others are not")
	check(a.Rule == backtest.Committee && a.Safe && a.Ahead > a.Behind, "the back test names the committee by what was declared")
	sentence := fmt.Sprintf("[%d real tables](figures/gallery/archive/natural-drift/README.md), against boosted trees of one "+
		"tuned time scale, omega [wins on %d and loses on %d](figures/gallery/archive/natural-drift/omega.md); a mixture of "+
		"several wins on %d (%d of the %d that did not choose it), loses on none.", n, conditional.Won, conditional.Lost,
		committee.Won, a.Ahead, a.Quoted)
	check(committee.Lost == 0, "the committee loses on none")
	readme := strings.Join(strings.Fields(string(demand.Read(t, "../../../README.md"))), " ")
	check(strings.Contains(readme, sentence), "README.md says "+sentence)
}

// TestMixtureOrOwnTime: of ten tables the mixture of x and y wins three and loses one against omega of the own time,
// which does as well as tuned forgetting; of seven tables nothing is said.
func TestMixtureOrOwnTime(t *testing.T) {
	var all []*Losses
	for i := range 10 {
		for _, suite := range []Suite{omega, mixture} {
			l := &Losses{Table: Dataset{Name: fmt.Sprint("t", i)}, Suite: suite,
				Rules: append([]string{backtest.Forgetting, "joint", "covariate", "conditional"}, mixtures...)}
			if suite.Name == omega.Name {
				l.Rules = l.Rules[:4]
			}
			l.Values = make([][]float64, len(l.Rules))
			for b := range 12 {
				l.Rows = append(l.Rows, 10)
				for k, rule := range l.Rules {
					v := 1 + .01*float64(b*7%5)
					switch {
					case rule == "joint-mixture" && i < 3:
						v -= .1
					case rule == "joint-mixture" && i == 3:
						v += .1
					}
					l.Values[k] = append(l.Values[k], v)
				}
			}
			all = append(all, l)
		}
	}
	demand.Words(t, mixtureOrOwnTime(all), "mixture against own time (10 tables)",
		"| omega of x and y | 3–1: ahead | 3–1: ahead | 0–0: no difference |", "| omega of x | 0–0: no difference |")
	demand.Equal(t, mixtureOrOwnTime(all[:14]), "", "what is said of seven tables")
}

// TestWhereOmega: of ten tables whose gains grow with the drift of x, this property is found and no other; and losses
// are stored with what g knows.
func TestWhereOmega(t *testing.T) {
	folder, suite := t.TempDir(), omega
	var all []*Losses
	for i := range 10 {
		l := &Losses{Table: Dataset{Name: fmt.Sprint("t", i), Season: 2}, Suite: suite, Metric: "log-loss",
			Rules: append([]string{backtest.Uniform, backtest.Forgetting, "joint-forgetting"}, omegas...), Extra: map[string][]float64{}}
		l.Values = make([][]float64, len(l.Rules))
		for b := range 12 {
			noise := .01 * float64(b*7%5)
			l.Times, l.Rows = append(l.Times, fmt.Sprint(b)), append(l.Rows, 10+i*3%7)
			for k, rule := range l.Rules {
				v := 1 + noise
				switch rule {
				case omegas[0]:
					v = 1 - .01*float64(i)
				case "joint-forgetting": // gains where g knows much
					v = 1 - .01*noise
				}
				l.Values[k] = append(l.Values[k], v)
			}
			l.Extra[heldOut] = append(l.Extra[heldOut], .69-noise)
			l.Extra[window] = append(l.Extra[window], float64(2+i*7%4))
		}
		demand.NoError(t, l.write(folder, l.Table, suite))
		read, err := read(lossFile(folder, l.Table, suite))
		demand.NoError(t, err)
		if !slices.Equal(read.Rules, l.Rules) || math.Abs(read.knowledge()[3]-l.knowledge()[3]) > 1e-5 {
			t.Fatalf("stored: rules %v, g knows %v", read.Rules, read.knowledge())
		}
		l.Drift = &Drift{X: float64(i), Rule: float64(i * 3 % 10), Periodicity: float64(i * 7 % 9)}
		all = append(all, l)
	}
	text := strings.Join(strings.Fields(whereOmega(all)), " ")
	demand.Words(t, text, "| drift of x | +1.00 [+1.00, +1.00] |", "Found: drift of x.", "Held-out loss judges g.")
	if text = whereOmega(all[:leastTables-1]); strings.Contains(text, "Found") {
		t.Errorf("of too few tables: %s", text)
	}
}
