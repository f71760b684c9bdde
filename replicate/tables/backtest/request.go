package backtest

import (
	"cmp"
	"fmt"
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// Request says what is to be tested.
type Request struct {
	tables.Request
	Model string // Logistic, or a command: "exec:...", "serve:..."
	// Rules are of Rules; nil: those of Rules(false). Uniform and Forgetting always take part.
	Rules []string
	// More, if not nil, adds rules to the built-in ones, of which it gets the list. They take part if Rules names them.
	More  func(builtIn []Rule) []Rule
	Kinds []crossfit.Kind // of omega, each alone and with forgetting; nil: all
	Until string          // the last block, as the table has its times; empty: the last one
	Last  int             // test blocks: the last so many; 0: all but the first fifth, at most mostLarge of a large table
	Gap   string          // how late labels come: "2 blocks" or "10 days"; empty: they are known before the next block
	// Reuse takes a finished back test of the user's own command from the store. Otherwise it is computed again: the
	// command may have changed in a file that its text does not name.
	Reuse bool
}

const (
	mostTests = 300 // test blocks
	mostLarge = 24  // test blocks of more than mostPast rows, if their number is not given
	mostFolds = 5   // of entities, which are dealt to them in turn
)

// Job is a request whose table was read and checked.
type Job struct {
	Request
	tables.Opened
	steps  []int // places of the times of the test blocks
	counts []int // of each time up to the last block: the rows that are learned from, and tested on
	rules  []Rule
	folds  int // of entities: each is predicted by models that learn from the others; 1 without entities
	gap    gap
}

// Prepare reads the table and chooses rules and test blocks. It finds all that the user can mend in the table
// or the request, as usage errors and *table.Error, before anything is computed.
func Prepare(q Request) (*Job, error) {
	if q.Label == "" {
		return nil, usage.Errorf("the label is missing: a back test needs an outcome that models predict")
	}
	if err := cmp.Or(usage.Known("there is no rule", q.Rules, q.names(true)), usage.Known("there is no kind of weight",
		propensity.Names(q.Kinds), propensity.Names(crossfit.Kinds())), checkModel(q.Model)); err != nil {
		return nil, err
	}
	o, err := q.Open(q.Until)
	if err != nil {
		return nil, err
	}
	p := &Job{Request: q, Opened: o}
	if p.gap, err = parseGap(q.Gap, o.Stream); err != nil {
		return nil, err
	}
	if late := o.Stream.LateTimes; late > 0 && q.Gap == "" {
		p.About.AddNote("the rows of the last %s have no label, or fewer than before: labels seem to come late, and here they count as "+
			"known before the next block; --gap %d learns from none of the %s before a test block", runs.Plural(late, "time"), late,
			runs.Plural(late, "block"))
	}
	p.counts = make([]int, o.Present+1)
	for _, row := range o.Rows {
		p.counts[o.Stream.Times.Index[row]]++
	}
	tested := slices.DeleteFunc(xslices.Iota(0, len(p.counts)), func(t int) bool { return p.counts[t] == 0 })
	s, blocks := o.Stream, len(tested)
	bad := func(column, problem, fix string) error {
		return &table.Error{File: q.File, Column: column, Problem: problem, Fix: fix}
	}
	if blocks < leastBlocks {
		return nil, bad(q.Time, fmt.Sprintf("there are %d blocks of time", blocks),
			fmt.Sprintf("a back test needs at least %d: choose a finer --bin", leastBlocks))
	}
	past := len(o.Rows) - p.counts[tested[blocks-1]]
	if slices.Contains(s.Features, weightColumn) || q.Label == weightColumn {
		return nil, bad(weightColumn, "the weights for a trainer have this name",
			"rename the column, or leave it out with --drop")
	}
	tests := q.Last
	if all := blocks - max(2, blocks/5); tests == 0 {
		if tests = min(all, mostTests); past > mostPast {
			tests = min(tests, mostLarge)
		}
		if tests < all {
			p.About.AddNote("the last %d blocks are tested; --last %d tests all but the first fifth", tests, all)
		}
	}
	if most := min(blocks-2, mostTests); tests > most || tests < 4 {
		return nil, bad(q.Time, fmt.Sprintf("%d of %d blocks cannot be test blocks", tests, blocks),
			fmt.Sprintf("give --last from 4 to %d", most))
	}
	if past > mostPast {
		who := "g and the model learn"
		if q.ownModel() {
			who = "g learns"
		}
		p.About.AddNote("%s from about %d of up to %d rows of the past: from all of the newest, from the fewer the older they "+
			"are, with weights that make up for it", who, mostPast, past)
	}
	p.steps = slices.DeleteFunc(tested[blocks-tests:], func(t int) bool { return p.learnable(t) <= tested[1] })
	if len(p.steps) < 4 {
		return nil, bad(q.Time, fmt.Sprintf("with a gap of %s only %d test blocks have a past", q.Gap, len(p.steps)),
			"give a shorter --gap")
	}
	if p.folds = 1; s.Group != nil {
		if p.folds = min(mostFolds, int(slices.Max(s.Group))+1); p.folds == 1 {
			return nil, bad(q.Group, "it has one value, from which no model could learn and be tested on another", "leave out --group")
		}
		for fold := range p.folds {
			if learned, _ := p.split(p.steps[0], fold); len(learned) == 0 {
				return nil, bad(q.Group, fmt.Sprintf("before the test block of %s there are no entities besides those that are predicted",
					tables.ShortName(s.Times.Names[p.steps[0]])),
					"name another column with --group, or test fewer blocks with --last")
			}
		}
		p.About.AddNote("no model is tested on an entity of column %s that it learned from: each block is predicted in %d folds of "+
			"entities, by models of their own", q.Group, p.folds)
	}
	seasonal := p.seasonal(o.Present + 1)
	p.rules = slices.DeleteFunc(q.rules(blocks, unit(s.Times.Values[:o.Present+1])), func(r Rule) bool {
		return !q.has(r) && !(seasonal && r.Weightings[0].Season)
	})
	return p, nil
}

// seasonal tells whether the rules of phases take part without being named, with a note: the calendar recurs in the
// blocks, and g of Joint is there to see it.
func (p *Job) seasonal(blocks int) bool {
	cycles := crossfit.Cycles(p.Stream.Unit(), p.Stream.Zone(), p.Stream.Times.Values[:blocks])
	if len(cycles) == 0 || p.Rules != nil || p.Kinds != nil && !slices.Contains(p.Kinds, crossfit.Joint) {
		return false
	}
	p.About.AddNote("the calendar recurs in the table (%s): rules that learn only from blocks of the test block's phase (%s) take part",
		tables.Joined(xslices.Map(cycles, func(c crossfit.Cycle) string { return c.Name }), "and"), Season)
	return true
}

// rules are all rules for a number of blocks that lie unit apart in time.
func (q Request) rules(blocks int, unit float64) []Rule {
	if q.More != nil {
		return q.More(builtIn(blocks, unit))
	}
	return builtIn(blocks, unit)
}

// names lists the rules that train a model, without those of the kinds of omega. extra: also those that take part only
// if they are named.
func (q Request) names(extra bool) (names []string) {
	for _, r := range q.rules(leastBlocks, 1) {
		if r.Kind == "" && (extra || !r.Extra) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Rules lists the built-in rules of which the request takes its choice: those that train a model, without those of the
// kinds of omega. extra: also those that take part only if they are named.
func Rules(extra bool) []string { return Request{}.names(extra) }

// has tells whether a rule takes part.
func (q Request) has(rule Rule) bool {
	switch {
	case rule.Kind != "":
		return q.Kinds == nil || slices.Contains(q.Kinds, rule.Kind)
	case rule.Name == Uniform || rule.Name == Forgetting:
		return true
	case q.Rules == nil:
		return !rule.Extra
	}
	return slices.Contains(q.Rules, rule.Name)
}

// unit is the median distance of neighbouring times.
func unit(times []float64) float64 {
	gaps := slices.Clone(times[1:])
	floats.Sub(gaps, times[:len(gaps)])
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// ownModel tells whether the model is the user's own command.
func (q Request) ownModel() bool { return q.Model != Logistic }

// learnable is the number of the first blocks whose labels are known when block step is predicted.
func (p *Job) learnable(step int) int { return p.gap.known(p.Stream.Times.Values, step) }

// split lists the rows that are learned from before a test block, of the other folds where there are entities, and
// those of the block's fold that are predicted, both in the order of the file.
func (p *Job) split(step, fold int) (learned, predicted []int) {
	known := p.learnable(step)
	for _, row := range p.Rows {
		block, own := int(p.Stream.Times.Index[row]), p.fold(row) == fold
		if block < known && (p.folds == 1 || !own) {
			learned = append(learned, row)
		} else if block == step && own {
			predicted = append(predicted, row)
		}
	}
	return learned, predicted
}

// fold is that of a row's entity.
func (p *Job) fold(row int) int {
	if p.folds == 1 {
		return 0
	}
	return int(p.Stream.Group[row]) % p.folds
}

// past has the test blocks that are known before a step; all before step blocks. known: their rows.
func (p *Job) past(known map[int][]runs.Row, step int) *Past {
	out := &Past{Measure: measures(p.Stream)[0].name}
	for _, t := range p.steps {
		if t < step {
			out.add(known[t], p.counts[t])
			before, _ := slices.BinarySearch(p.steps, p.learnable(t))
			out.known = append(out.known, before)
		}
	}
	return out
}
