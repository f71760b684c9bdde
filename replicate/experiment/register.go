package experiment

import (
	"fmt"
	"slices"
)

// Register holds what is declared under a name: learners or scenarios. Entries are added while packages are
// initialised: it is read without a lock.
type Register[T any] struct {
	Kind    string         // what an entry is, as "robots: the learner"
	Name    func(T) string // of an entry
	Entries []T
}

// Add adds an entry and returns it. It panics on a name that is empty or taken.
func (r *Register[T]) Add(entry T) T {
	name := r.Name(entry)
	if _, taken := r.Of(name); taken || name == "" {
		panic(fmt.Sprintf("%s %q needs a name of its own", r.Kind, name))
	}
	r.Entries = append(r.Entries, entry)
	return entry
}

// Of returns the entry of a name; ok is false if there is none.
func (r *Register[T]) Of(name string) (entry T, ok bool) {
	for _, entry := range r.Entries {
		if r.Name(entry) == name {
			return entry, true
		}
	}
	return entry, false
}

// Names lists the names of all entries, sorted.
func (r *Register[T]) Names() []string { return r.NamesOf(func(T) bool { return true }) }

// NamesOf lists the names of some entries, sorted.
func (r *Register[T]) NamesOf(chosen func(T) bool) []string {
	var names []string
	for _, entry := range r.Entries {
		if chosen(entry) {
			names = append(names, r.Name(entry))
		}
	}
	slices.Sort(names)
	return names
}
