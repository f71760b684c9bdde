package env

// limb is a capsule (a thick line with round ends), in metres: x is the direction of motion,
// z is up.
type limb struct {
	From, To [3]float64
	Radius   float64
}

// limbs are the capsules of a simulation.
type limbs struct {
	ids           []int
	sizes         []float64 // of all geoms: radius and half length without the ends
	places, turns []float64 // of all geoms: centres and rotation matrices
}

// newLimbs looks up the named geoms. It reads their sizes from a separate simulation, because
// Parameter makes every later step of a simulation slower.
func newLimbs(model *mjModel, sim *simulation, names ...string) (limbs, error) {
	var l limbs
	for _, name := range names {
		id, err := model.ID(mjGeom, name)
		if err != nil {
			return limbs{}, err
		}
		l.ids = append(l.ids, id)
	}
	other, err := model.simulate()
	if err != nil {
		return limbs{}, err
	}
	defer other.Close()
	sizes, err := other.Parameter("geom_size")
	if err != nil {
		return limbs{}, err
	}
	l.sizes = append(l.sizes, sizes...)
	if l.places, err = sim.Output("geom_xpos"); err != nil {
		return limbs{}, err
	}
	if l.turns, err = sim.Output("geom_xmat"); err != nil {
		return limbs{}, err
	}
	return l, nil
}

// now returns the capsules at their present positions. The axis of a capsule is the z axis
// of its frame.
func (l limbs) now() []limb {
	list := make([]limb, len(l.ids))
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
