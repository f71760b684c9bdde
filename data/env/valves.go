package env

import (
	"fmt"
	"math"
	"strings"
)

// Valves is the number of valves that a D'Claw may turn.
const Valves = 10

// point is a point in the plane of a valve, mm from its axis.
type point [2]float64

// valve is one of the ten valves. It is either a plate on a hub or a few capsules. MuJoCo
// uses the convex hull of a plate for contacts, so the star acts as a pentagon and the
// hexagram as a hexagon.
type valve struct {
	plate    plate
	capsules []capsule
}

// slab is a flat body: all points within the distance round of a polygon that extends from
// the height low to the height high. Lengths are in mm, heights relative to the valve's frame.
type slab struct {
	corners   []point
	round     float64
	low, high float64
}

// plate is the convex hull of slabs and of a hub below them.
type plate struct {
	slabs     []slab
	hub       point   // centre of the hub, a disc with two flat sides
	hubRadius float64 // radius of the disc
	hubFlat   float64 // distance of the flat sides from the centre, in y
	hubEnd    float64 // height of the hub's lower end
	mass      float64 // kg
	centre    point   // centre of mass
	level     float64 // height of the centre of mass
	inertia   float64 // about the vertical through the centre of mass, kg m^2
}

// capsule is a part of a valve, in its plane.
type capsule struct {
	middle point
	angle  float64 // between its axis and the x axis, rad
	half   float64 // half its length without the round ends, mm
}

// Heights of the motor and of the valve's frame above it, for plates and for capsules, and
// the capsules' radius and height.
const (
	plateBase    = 0.0251 // m
	plateFrame   = 0.1    // m
	capsuleBase  = 0.0101 // m
	capsuleFrame = 0.038  // m
	capsuleLevel = 54.    // mm, height of the capsules in the frame
	capsuleRound = 21.    // mm, radius of the capsules
	capsuleTurn  = -1.57  // rad, rotation of the frame at joint angle 0
)

// valves have the outlines and masses of the lifelong-learning benchmark for the D'Claw. The
// masses are those that MuJoCo computes from that benchmark's meshes.
var valves = [Valves]valve{
	{plate: plate{ // square
		slabs: []slab{{[]point{{-44.48, -44.45}, {43.97, -44.25}, {43.83, 44.12}, {-44.62, 43.93}}, 1, -18.5, -1}},
		hub:   point{-.28, -.16}, hubRadius: 9.51, hubFlat: 6.68, hubEnd: -26.88,
		mass: .29695, centre: point{-.323, -.161}, level: -10.02, inertia: 3.9091e-4}},
	{plate: plate{ // ring handle
		slabs: []slab{
			{regular(24, point{-1.65, 44.67}, 45.3), 0, -39, .2},
			{[]point{{-1.66, 44.67}, {-1.66, -71.91}}, 19.5, -19.24, -19.24},
		},
		hub: point{-1.7, -.76}, hubRadius: 19.02, hubFlat: 13.22, hubEnd: -53.47,
		mass: .64635, centre: point{-1.66, 18.416}, level: -20.63, inertia: 1.5078e-3}},
	{plate: plate{ // bar
		slabs: []slab{{[]point{{-3.44, -69.8}, {-3.44, 72.38}}, 19.5, -19.24, -19.24}},
		hub:   point{-3.48, 1.27}, hubRadius: 19.02, hubFlat: 13.22, hubEnd: -53.47,
		mass: .38813, centre: point{-3.442, 1.287}, level: -21.65, inertia: 8.5414e-4}},
	{capsules: []capsule{ // three arms
		{point{0, 38}, math.Pi / 2, 35},
		{point{-34, -19}, math.Pi/2 + 2*math.Pi/3, 35},
		{point{34, -19}, math.Pi/2 - 2*math.Pi/3, 35},
	}},
	{capsules: []capsule{{point{0, 0}, 0, 74}, {point{0, 0}, math.Pi / 2, 74}}}, // cross
	{plate: polygon( // hexagram
		[]point{{-40.26, -22.23}, {3.71, -47.52}, {47.6, -22.11}, {47.53, 28.59}, {3.64, 53.83}, {-40.33, 28.46}},
		point{3.76, 3.18}, .19496, point{3.65, 3.178}, -17.61, 1.3385e-4)},
	{plate: polygon( // triangle
		[]point{{-54.59, -30.52}, {57.54, -30.38}, {1.37, 66.63}},
		point{1.56, 1.9}, .28933, point{1.447, 1.902}, -15.06, 3.0431e-4)},
	{plate: polygon( // pentagon
		[]point{{-57.47, -15.77}, {.17, -57.48}, {57.57, -15.58}, {35.46, 51.94}, {-35.64, 51.78}},
		point{.15, 2.96}, .41813, point{.031, 2.963}, -13.42, 5.8801e-4)},
	{plate: polygon( // hexagon
		[]point{{-50.13, -28.79}, {-.23, -57.48}, {49.58, -28.63}, {49.48, 28.9}, {-.42, 57.6}, {-50.22, 28.75}},
		point{-.2, .06}, .41383, point{-.316, .059}, -13.44, 5.6962e-4)},
	{plate: polygon( // star
		[]point{{-31.68, -42.52}, {33.48, -42.46}, {53.54, 19.48}, {.8, 57.7}, {-51.86, 19.37}},
		point{.98, 2.31}, .217, point{.868, 2.314}, -16.85, 1.7109e-4)},
}

// polygon returns a plate that is 39.5 mm thick, edges of radius 2.5 mm included, on a hub of
// radius 19 mm.
func polygon(corners []point, hub point, mass float64, centre point, level, inertia float64) plate {
	return plate{slabs: []slab{{corners, 2.5, -27, 7.5}},
		hub: hub, hubRadius: 19.02, hubFlat: 13.25, hubEnd: -63.26,
		mass: mass, centre: centre, level: level, inertia: inertia}
}

// regular returns n points on a circle, the first in the direction of x.
func regular(n int, centre point, radius float64) []point {
	list := make([]point, n)
	for i := range list {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		list[i] = point{centre[0] + radius*cos, centre[1] + radius*sin}
	}
	return list
}

// mjcf returns the valve as MJCF: its mesh ("" for capsules), its body, and the height of its
// motor in metres.
func (v valve) mjcf() (mesh, body string, base float64) {
	var b strings.Builder
	height, turn := plateFrame, 0.
	if v.capsules != nil {
		height, turn = capsuleFrame, capsuleTurn
	}
	fmt.Fprintf(&b, `<body name="valve" pos="0 0 %v" euler="0 0 %v">`, height, turn)
	b.WriteString(`<joint class="valve" name="valve" axis="0 0 1" range="-6.28 6.28"/>`)
	for _, c := range v.capsules {
		ends := c.ends()
		from, to := metres(ends[0][0], ends[0][1], capsuleLevel), metres(ends[1][0], ends[1][1], capsuleLevel)
		fmt.Fprintf(&b, `<geom class="valve" type="capsule" size="%s" fromto="%s %s"/>`, metres(capsuleRound), from, to)
	}
	if v.capsules != nil {
		b.WriteString(`<geom class="valve" type="cylinder" size=".02 .0275" pos="0 0 .027"/></body>`)
		return "", b.String(), capsuleBase
	}
	p := v.plate
	fmt.Fprintf(&b, `<inertial pos="%s" mass="%v" diaginertia="%v %v %v"/>`,
		metres(p.centre[0], p.centre[1], p.level), p.mass, p.inertia, p.inertia, p.inertia)
	b.WriteString(`<geom class="valve" type="mesh" mesh="valve"/></body>`)
	return fmt.Sprintf(`<mesh name="valve" vertex="%s"/>`, p.vertices()), b.String(), plateBase
}

// ends returns the end points of the capsule's axis.
func (c capsule) ends() []point {
	sin, cos := math.Sincos(c.angle)
	return []point{
		{c.middle[0] - c.half*cos, c.middle[1] - c.half*sin}, {c.middle[0] + c.half*cos, c.middle[1] + c.half*sin},
	}
}

// vertices returns points whose convex hull is the plate.
func (p plate) vertices() string {
	var b strings.Builder
	add := func(x, y, z float64) { b.WriteString(metres(x, y, z) + " ") }
	for _, s := range p.slabs {
		for _, c := range s.corners {
			s.edge(c, s.low, -1, add)
			s.edge(c, s.high, 1, add)
		}
	}
	for _, q := range p.hubOutline() {
		add(q[0], q[1], p.hubEnd)
	}
	return b.String()
}

// edge adds the points of a hemisphere around a corner at a height: the upper one if up is 1,
// the lower one if it is -1.
func (s slab) edge(c point, height, up float64, add func(x, y, z float64)) {
	add(c[0], c[1], height+up*s.round)
	if s.round == 0 {
		return
	}
	for _, lift := range []float64{0, math.Pi / 6, math.Pi / 3} {
		sin, cos := math.Sincos(lift)
		for _, q := range regular(16, c, cos*s.round) {
			add(q[0], q[1], height+up*sin*s.round)
		}
	}
}

// hubOutline returns the outline of the hub: a disc with two flat sides.
func (p plate) hubOutline() []point {
	list := regular(24, p.hub, p.hubRadius)
	for i := range list {
		list[i][1] = p.hub[1] + min(max(list[i][1]-p.hub[1], -p.hubFlat), p.hubFlat)
	}
	return list
}

// metres formats millimetres as metres.
func metres(mm ...float64) string {
	var text []string
	for _, x := range mm {
		text = append(text, fmt.Sprintf("%.6g", x/1000))
	}
	return strings.Join(text, " ")
}
