package env

import "tvps/data/env/mujoco"

// Limb is a capsule: a thick line with round ends, in metres; x is along the way, z up.
type Limb struct {
	From, To [3]float64
	Radius   float64
}

// limbs finds the capsules of a simulation.
type limbs struct {
	ids           []int
	sizes         []float64 // of all geoms: radius and half the length of the middle
	places, turns []float64 // of all geoms: centre and rotation matrix
}

// newLimbs looks up the named geoms. Their sizes are read from a simulation of its own,
// because a parameter that was looked at costs time in each step.
func newLimbs(model *mujoco.Model, sim *mujoco.Sim, names ...string) (l limbs, err error) {
	for _, name := range names {
		id, err := model.ID(mujoco.Geom, name)
		if err != nil {
			return l, err
		}
		l.ids = append(l.ids, id)
	}
	other, err := model.Sim()
	if err != nil {
		return l, err
	}
	defer other.Close()
	sizes, err := other.Parameter("geom_size")
	if err != nil {
		return l, err
	}
	l.sizes = append(l.sizes, sizes...)
	if l.places, err = sim.Output("geom_xpos"); err != nil {
		return l, err
	}
	l.turns, err = sim.Output("geom_xmat")
	return l, err
}

// now returns the capsules where they are. A capsule lies along the z axis of its frame.
func (l limbs) now() []Limb {
	list := make([]Limb, len(l.ids))
	for i, id := range l.ids {
		list[i].Radius = l.sizes[3*id]
		for k := range 3 {
			half := l.sizes[3*id+1] * l.turns[9*id+3*k+2]
			list[i].From[k] = l.places[3*id+k] - half
			list[i].To[k] = l.places[3*id+k] + half
		}
	}
	return list
}
