package runs

import (
	"maps"
	"slices"
)

// Steps lists the steps of a run that are stored, ascending, whether the run is finished or not. Files that cannot be
// read have none.
func (s *Store) Steps(spec Spec) []int {
	known, _ := s.known(spec)
	return slices.Sorted(maps.Keys(known))
}
