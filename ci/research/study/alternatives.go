// Package study compares other readings of the paper with the defaults: what they change in the accuracy of each
// learner, and in the verdicts on claims. INTERPRETATIONS.md in replicate/paper numbers the points that the paper
// leaves open.
package study

import (
	"fmt"
	"slices"

	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// Table declares a table: a scenario with the default settings and with alternatives to them.
type Table struct {
	paper.Panel                           // Key names the table, Series are the columns
	Compared     []string                 // learners of a row that names none; it shows those that its settings can change
	Alternatives []Alternative            // the rows after that of the default
	ByRow        bool                     // cells are losses, compared with the default's, instead of accuracies
	Strides      map[experiment.Scale]int // at scales where the steps of the figure are too many for so many rows
	Seeds        string                   // seeds of its own; empty for those of the figures
}

// Alternative is a row: another reading of the paper than the default.
type Alternative struct {
	Name    string   // for --row and the files
	About   string   // numbers in INTERPRETATIONS.md
	Set     []string // settings that override the default's; none for a row about its learners
	Text    string   // explains the settings, where their names do not
	Series  []string // learners that it is about; nil for the table's Compared
	Every   int      // stride over the table's steps, to save time; 0 for all steps
	Slow    string   // time at the small scale of a row that is left out unless named
	Literal bool     // a literal reading of Table 2, listed even where it is the default
}

// Tables declares the tables that compare the interpretations, a Gaussian and a label shift, as in two panels of
// Figure 1, and those that compare how g is trained, by its held-out loss alone. Like the figures' strides the tables'
// are coprime to T.
func Tables() []Table {
	return []Table{
		{
			Panel: paper.Panel{Key: "gaussian", Title: "Drifting Gaussian, panel a of figure 1", Scenario: "gaussian",
				Series: append(slices.Clone(compared), "standard")},
			Compared: compared, Alternatives: onGaussian,
		},
		{
			Panel: paper.Panel{Key: "cifar10b", Title: "CIFAR-10b, panel c of figure 1", Scenario: "cifar10b",
				Series: append(slices.Clone(compared), "standard", "pretrained")},
			Compared: compared, Alternatives: onCIFAR10b,
			Strides: map[experiment.Scale]int{experiment.Small: 35, experiment.Paper: 11}, // small: 8, 43, 78, 113
		},
		lossOfG("gaussian", "drifting Gaussian", 23, ofTraining),
		lossOfG("periodic", "periodic Gaussian", 23, ofTraining),
		lossOfG("cifar10a", "CIFAR-10a", 53, ofTrainingOnImages),
		lossOfG("cifar10b", "CIFAR-10b", 35, ofTrainingOnImages),
		lossOfG("clear", "CLEAR", 181, ofTraining),
	}
}

// lossOfG is a table of settings of g by the loss on validation samples, without a classifier, on seeds of no figure.
func lossOfG(scenario, title string, stride int, rows []Alternative) Table {
	return Table{
		Panel: paper.Panel{Key: "g-" + scenario, Title: "Held-out loss of g, " + title, Scenario: scenario,
			Series: onlyOurs, Measure: "g-loss"},
		Compared: onlyOurs, ByRow: true, Seeds: "100-103", Alternatives: rows,
		Strides: map[experiment.Scale]int{experiment.Small: stride, experiment.Paper: stride},
	}
}

var compared = []string{"everything", "recent", "finetune", "ours", "exact"}

// onlyStandard are the learners of rows about which steps count as current, onlyOurs those of tables about g alone.
var (
	onlyStandard = []string{"standard"}
	onlyOurs     = []string{"ours"}
)

// The rows of the tables about g alone: how it is trained. 1,000 minibatches cost as much as the default of the smaller
// scales, rows of other costs say so. On images, where g has nearly as many inputs as a step has samples, it may learn
// more slowly, or by the relative scale of even.
var (
	ofTraining = []Alternative{
		training("constant", "", 3e-3, "constant", 1000),
		training("constant-low", "", 1e-3, "constant", 1000),
		training("constant-high", "", 1e-2, "constant", 1000),
		training("constant-higher", "", 3e-2, "constant", 1000),
		training("cosine-lower", "", 1e-3, "cosine", 1000),
		training("cosine-low", "", 3e-3, "cosine", 1000),
		training("cosine", "", 1e-2, "cosine", 1000),
		training("cosine-high", "", 3e-2, "cosine", 1000),
		training("short", "a third of the cost", 1e-2, "cosine", 300),
		training("long-wide", "twice the cost and more", 3e-3, "cosine", 2000, "g-hidden=64"),
	}
	ofTrainingOnImages = slices.Concat(under(slices.Concat(ofTraining, []Alternative{
		training("first-low", "", 3e-4, "constant", 1000),
		training("first-lowest", "", 1e-4, "constant", 1000),
		training("first-short", "a third of the cost", 1e-3, "cosine", 300),
	}), "g-join=first"), under([]Alternative{
		training("even-constant", "", 3e-3, "constant", 1000),
		training("even-lower", "", 1e-3, "cosine", 1000),
		training("even-low", "", 3e-3, "cosine", 1000),
		training("even", "", 1e-2, "cosine", 1000),
		training("even-short", "a third of the cost", 1e-2, "cosine", 300),
	}, "g-join=even", "g-network=mlp", "g-input=features"))
)

// training is a row about how g is trained, with every setting of it.
func training(name, text string, rate float64, schedule string, updates int, more ...string) Alternative {
	set := []string{fmt.Sprintf("g-rate=%g", rate), "g-schedule=" + schedule, fmt.Sprintf("g-updates=%d", updates),
		"g-epochs=0"}
	return Alternative{Name: name, About: "I1", Set: append(set, more...), Text: text}
}

// under returns the rows with more settings.
func under(rows []Alternative, more ...string) []Alternative {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Set = slices.Concat(out[i].Set, more)
	}
	return out
}

// ofOmega are the rows about g and the weights, on the Gaussian and on images.
var ofOmega = []Alternative{
	{Name: "rate", About: "I1",
		Set: []string{"g-rate=1e-4", "g-updates=1000", "g-epochs=0"}, Text: "the table's rate alone"},
	{Name: "updates", About: "I1",
		Set: []string{"g-rate=3e-3", "g-updates=200", "g-epochs=0"}, Text: "the table's M alone, as minibatches"},
	{Name: "rate-updates", About: "I1",
		Set: []string{"g-rate=1e-3", "g-updates=2000", "g-epochs=0"}, Text: "between the default and the table"},
	{Name: "constant", About: "I1",
		Set: []string{"g-rate=3e-3", "g-schedule=constant", "g-join=first"}, Text: "an earlier default"},
	{Name: "cosine", About: "I1",
		Set: []string{"g-rate=1e-2", "g-schedule=cosine"}, Text: "a rate that falls to 0 as half a cosine"},
	{Name: "warm-start", About: "I1",
		Set: []string{"g-start=previous"}, Text: "g starts where the fit at t - 1 ended"},
	{Name: "no-label", About: "I2", Set: []string{"g-label=false"}},
	{Name: "time-scalar", About: "I2", Set: []string{"g-time=scalar"}},
	{Name: "time-fourier", About: "I2", Set: []string{"g-time=fourier"}},
	{Name: "time-embedding", About: "I2", Set: []string{"g-time=embedding"}},
	{Name: "clip-exponent", About: "I2", Set: []string{"clip=exp1"}, Text: "omega at most e"},
	{Name: "clip-none", About: "I2", Set: []string{"clip=none"}},
	{Name: "method1", About: "I13", Set: []string{"method=method1"}},
	{Name: "window-5", About: "I8",
		Set: []string{"window=5"}, Text: "the last 5 steps count as current", Series: onlyStandard},
	{Name: "window-20", About: "I8",
		Set: []string{"window=20"}, Text: "the last 20 steps count as current", Series: onlyStandard},
}

// Table 2 of the paper. table2 has its values for every supervised scenario: Algorithm 2, the training of the
// classifier and the clip. The rows add M, which can be read in two ways, and on images the values for images and the
// network of g.
var (
	table2       = []string{"g-rate=1e-4", "g-batch=512", "clip=min1", "rate=9e-4", "batch=128"}
	minibatches  = []string{"g-updates=200", "g-epochs=0"}
	passes       = []string{"g-epochs=200"}
	table2Images = slices.Concat(table2, []string{"g-schedule=constant", "g-join=first", "n=200", "epochs=20"})
	table2Conv   = slices.Concat(table2Images, []string{"g-network=conv5", "g-input=pixels", "g-hidden=32"})
)

// The rows of each table.
var (
	onGaussian = slices.Concat([]Alternative{
		{Name: "table2", About: "I1",
			Set:  slices.Concat(table2, minibatches),
			Text: "Table 2 read literally, M = 200 minibatches", Literal: true},
		{Name: "table2-epochs", About: "I1",
			Set:  slices.Concat(table2, passes),
			Text: "Table 2 read literally, M = 200 epochs", Every: 9, Literal: true},
	}, ofOmega, []Alternative{
		{Name: "turn-49", About: "I3", Set: []string{"turn=49"}},
		{Name: "no-limit", About: "I3", Set: []string{"max-updates=0"}, Text: "no limit of minibatches", Every: 9},
		{Name: "linear", About: "I3", Set: []string{"network=linear"}},
		{Name: "finetune-5", About: "I7", Set: []string{"finetune-epochs=5"}},
		{Name: "finetune-0", About: "I7", Set: []string{"finetune-epochs=0"}},
	})
	onCIFAR10b = slices.Concat([]Alternative{
		{Name: "table2", About: "I1",
			Set:  slices.Concat(table2Images, minibatches),
			Text: "Table 2 read literally except g's network, M = 200 minibatches", Literal: true},
		{Name: "table2-epochs", About: "I1",
			Set:  slices.Concat(table2Images, passes),
			Text: "Table 2 read literally except g's network, M = 200 epochs", Literal: true},
		{Name: "table2-conv5", About: "I1, I4",
			Set: slices.Concat(table2Conv, minibatches), Text: "Table 2 read literally, M = 200 minibatches",
			Slow: "a quarter of an hour", Literal: true},
		{Name: "table2-conv5-epochs", About: "I1, I4",
			Set: slices.Concat(table2Conv, passes), Text: "Table 2 read literally, M = 200 epochs",
			Slow: "half an hour for each fit of g", Literal: true},
	}, ofOmega, []Alternative{
		{Name: "g-fc3", About: "I4",
			Set: []string{"g-network=fc3", "g-input=features"}, Text: "the table's g for CLEAR"},
		{Name: "join-first", About: "I2",
			Set: []string{"g-join=first"}, Text: "features as they are, next to the label"},
		{Name: "reinit", About: "I5", Set: []string{"start=reinit"}},
		{Name: "batch-norm-frozen", About: "I6", Set: []string{"batch-norm=frozen"}},
		{Name: "finetune-5", About: "I7", Set: []string{"finetune-epochs=5"}},
		{Name: "block-stage", About: "I10",
			Set: []string{"block=stage"}, Text: "both blocks of the last stage are trained"},
	})
)
