package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tvps/replicate/runs"
)

// matcher pairs runs; free are the settings that two runs of a pair need not share.
type matcher struct{ free []string }

func newMatcher(a, b Side) matcher {
	free := slices.Concat(identity, seedIdentity, slices.Collect(maps.Keys(a.Where)), slices.Collect(maps.Keys(b.Where)))
	slices.Sort(free)
	return matcher{slices.Compact(free)}
}

// split separates the fields of a run into those that its partner must share and the free ones.
func (m matcher) split(s runs.Spec) (shared, free map[string]string) {
	shared, free = fields(s), map[string]string{}
	for _, name := range m.free {
		if value, ok := shared[name]; ok {
			free[name] = value
			delete(shared, name)
		}
	}
	return shared, free
}

// key is what partners share, as text.
func (m matcher) key(s runs.Spec) string {
	shared, _ := m.split(s)
	return canonical([]any{shared, s.Seed})
}

// match pairs the runs of both sides.
func (m matcher) match(a, b []runs.Spec) (pairs []pair, onlyA, onlyB []Run) {
	inA, inB := byKey(a, runs.Spec.ID), byKey(b, runs.Spec.ID)
	alone := func(specs []runs.Spec, other map[string][]runs.Spec) []runs.Spec {
		return slices.DeleteFunc(slices.Clone(specs), func(s runs.Spec) bool { return other[s.ID()] != nil })
	}
	for _, s := range a {
		if inB[s.ID()] != nil {
			pairs = append(pairs, pair{s, s})
		}
	}
	a, b = alone(a, inB), alone(b, inA)
	partnersA, partnersB := byKey(a, m.key), byKey(b, m.key)
	for _, s := range a {
		for _, partner := range partnersB[m.key(s)] {
			pairs = append(pairs, pair{s, partner})
		}
		if partnersB[m.key(s)] == nil {
			onlyA = append(onlyA, named(s))
		}
	}
	for _, s := range b {
		if partnersA[m.key(s)] == nil {
			onlyB = append(onlyB, named(s))
		}
	}
	return pairs, onlyA, onlyB
}

func byKey(specs []runs.Spec, key func(runs.Spec) string) map[string][]runs.Spec {
	out := map[string][]runs.Spec{}
	for _, s := range specs {
		out[key(s)] = append(out[key(s)], s)
	}
	return out
}

// canonical is the JSON of v, with sorted keys.
func canonical(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("export: %T did not encode: %v", v, err))
	}
	return string(out)
}

func named(s runs.Spec) Run {
	return Run{s.Experiment, s.Learner, s.Seed, s.ID(), s.Settings}
}

// groups groups pairs that differ in their seed, and in settings that may differ with it. If a seed then has two pairs
// in a group, as after training the checkpoints again, that group is split by checkpoint.
func (m matcher) groups(pairs []pair) []Group {
	var out []Group
	for _, group := range m.groupBy(pairs, seedIdentity) {
		seeds := map[int64]bool{}
		for _, p := range group.pairs {
			seeds[p.a.Seed] = true
		}
		if len(seeds) == len(group.pairs) {
			out = append(out, group)
		} else {
			out = append(out, m.groupBy(group.pairs, nil)...)
		}
	}
	return out
}

// groupBy groups pairs that share everything except their seed and the settings without.
func (m matcher) groupBy(pairs []pair, without []string) []Group {
	groups := map[string]*Group{}
	for _, p := range pairs {
		g := m.group(p, without)
		key := canonical([]any{g.Experiment, g.Learner, g.Settings, g.A, g.B})
		if groups[key] == nil {
			groups[key] = &g
		}
		groups[key].add(p, without)
	}
	var out []Group
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		slices.SortFunc(g.pairs, func(p, q pair) int { return cmp.Compare(p.a.Seed, q.a.Seed) })
		out = append(out, *g)
	}
	return out
}

// group returns an empty group for a pair.
func (m matcher) group(p pair, without []string) Group {
	var g Group
	g.Settings, g.A = m.split(p.a)
	_, g.B = m.split(p.b)
	g.Experiment, g.Learner = g.Settings["experiment"], g.Settings["learner"]
	for _, name := range append([]string{"experiment", "learner"}, without...) {
		delete(g.Settings, name)
		if slices.Contains(without, name) {
			delete(g.A, name)
			delete(g.B, name)
		}
	}
	return g
}

// add adds a pair to its group.
func (g *Group) add(p pair, without []string) {
	g.pairs = append(g.pairs, p)
	for _, name := range without {
		if p.a.Settings[name] != p.b.Settings[name] {
			if g.Differing == nil {
				g.Differing = map[string]int{}
			}
			g.Differing[name]++
		}
	}
}
