package env

import (
	"fmt"
	"math"
	"strings"
)

// clawFilm is the D'Claw and its valve from above; x points to the right, y up.
type clawFilm struct {
	robot  *Claw
	frames []clawPose
}

const (
	clawWidth, clawHeight = 560, 580
	clawX, clawY          = 280., 320. // pixels, the valve's axis
	clawPixels            = 1500.      // pixels per metre
	clawDial              = 235.       // pixels, radius of the circle with the target
)

func (c *clawFilm) add()                   { c.frames = append(c.frames, c.robot.pose()) }
func (c *clawFilm) size() (int, int)       { return clawWidth, clawHeight }
func (c *clawFilm) slower() (float64, int) { return 0.1, 2 }

func (c *clawFilm) caption(frame int) string {
	p := c.frames[frame]
	text := fmt.Sprintf("valve at %.0f°", degrees(p.Angle))
	if p.Success {
		text += ", on target"
	}
	return text
}

func (c *clawFilm) draw(s *svg, keep []int) {
	c.target(s)
	c.valve(s, keep)
	for f, colour := range []string{"#4269d0", "#ff725c", "#3ca951"} {
		c.finger(s, keep, f, colour)
	}
	s.text(16, clawHeight-8, "start", 12, "from above; the valve is drawn as the fingers feel it, without its notches")
}

// target draws the target of the valve's mark and the range that counts as success.
func (c *clawFilm) target(s *svg) {
	at := func(angle, radius float64) string {
		return number(clawX+radius*math.Cos(angle)) + " " + number(clawY-radius*math.Sin(angle))
	}
	s.printf(`<circle cx="%v" cy="%v" r="%v" fill="none" stroke="#ddd"/>`, clawX, clawY, clawDial)
	s.printf(`<path d="M%v %vL%sA%v %v 0 0 0 %sz" fill="#d62728" fill-opacity="0.2"/>`, clawX, clawY,
		at(clawTarget-clawSuccess, clawDial), clawDial, clawDial, at(clawTarget+clawSuccess, clawDial))
	s.printf(`<path d="M%sL%s" stroke="#d62728" stroke-width="4"/>`, at(clawTarget, clawDial-10), at(clawTarget, clawDial+10))
	x, y := clawX+(clawDial+14)*math.Cos(clawTarget), clawY-(clawDial+14)*math.Sin(clawTarget)
	s.text(x, y-16, "middle", 13, "target")
}

// valve draws the valve with its mark, and its rotation.
func (c *clawFilm) valve(s *svg, keep []int) {
	first := c.frames[0]
	var turns []string
	for _, k := range keep {
		turns = append(turns, fmt.Sprintf("%.1f", -degrees(c.frames[k].Angle-first.Angle)))
	}
	s.printf(`<g transform="translate(%v %v)"><g transform="rotate(%s)">%s`,
		clawX, clawY, turns[0], s.transform("rotate", turns))
	const polygon = `<polygon points="%s" fill="#c9b458" stroke="#c9b458" stroke-width="%s" ` +
		`stroke-linejoin="round" stroke-linecap="round"/>`
	for _, shape := range first.Shapes {
		s.printf(polygon, points(shape.Corners, 0, 0), number(2*shape.Radius*clawPixels))
	}
	s.printf(`<path d="M0 0H%v" stroke="#222" stroke-width="4" transform="rotate(%.1f)"/></g></g>`,
		clawDial-14, -degrees(first.Angle))
}

// finger draws the joints and the tip of finger f.
func (c *clawFilm) finger(s *svg, keep []int, f int, colour string) {
	var lines, xs, ys []string
	for _, k := range keep {
		var corners [][2]float64
		for _, joint := range c.frames[k].Fingers[f] {
			corners = append(corners, [2]float64{joint[0], joint[1]})
		}
		lines = append(lines, points(corners, clawX, clawY))
		tip := corners[len(corners)-1]
		xs, ys = append(xs, number(clawX+tip[0]*clawPixels)), append(ys, number(clawY-tip[1]*clawPixels))
	}
	const polyline = `<polyline points="%s" fill="none" stroke="%s" stroke-opacity="0.75" stroke-width="18" ` +
		`stroke-linejoin="round" stroke-linecap="round">%s</polyline>`
	s.printf(polyline, lines[0], colour, s.animate("points", lines))
	s.printf(`<circle cx="%s" cy="%s" r="14" fill="%s" stroke="#222">%s%s</circle>`,
		xs[0], ys[0], colour, s.animate("cx", xs), s.animate("cy", ys))
}

// points formats points in metres as pixels from the origin (x, y).
func points(corners [][2]float64, x, y float64) string {
	var list []string
	for _, p := range corners {
		list = append(list, number(x+p[0]*clawPixels)+","+number(y-p[1]*clawPixels))
	}
	return strings.Join(list, " ")
}

func degrees(rad float64) float64 { return rad * 180 / math.Pi }
