package env

import (
	"fmt"
	"math"
)

// cheetahFilm is the runner from the side; the camera follows it.
type cheetahFilm struct {
	robot  *Cheetah
	frames []cheetahPose
}

const (
	cheetahWidth  = 720
	cheetahHeight = 330
	cheetahPixels = 170. // pixels per metre
	cheetahFloor  = 290. // pixels from the top
	cheetahGauge  = 90.  // pixels per m/s
)

func (c *cheetahFilm) add()                   { c.frames = append(c.frames, c.robot.pose()) }
func (c *cheetahFilm) size() (int, int)       { return cheetahWidth, cheetahHeight }
func (c *cheetahFilm) slower() (float64, int) { return 0.05, 3 }

func (c *cheetahFilm) caption(frame int) string {
	return fmt.Sprintf("velocity %.2f m/s", c.frames[frame].Velocity)
}

func (c *cheetahFilm) draw(s *svg, keep []int) {
	c.ground(s, keep)
	colours := []string{"#4269d0", "#4269d0", "#9c6b4e", "#9c6b4e", "#9c6b4e", "#ff725c", "#ff725c", "#ff725c"}
	for l, limb := range c.frames[0].Limbs {
		values := make([][]string, 4) // x1, y1, x2, y2
		for _, k := range keep {
			p := c.frames[k]
			for e, end := range [][3]float64{p.Limbs[l].From, p.Limbs[l].To} {
				values[2*e] = append(values[2*e], number(cheetahWidth/2+(end[0]-p.X)*cheetahPixels))
				values[2*e+1] = append(values[2*e+1], number(cheetahFloor-end[2]*cheetahPixels))
			}
		}
		s.printf(`<line x1="%s" y1="%s" x2="%s" y2="%s" `+
			`stroke="%s" stroke-width="%s" stroke-linecap="round">%s%s%s%s</line>`,
			values[0][0], values[1][0], values[2][0], values[3][0],
			colours[l], number(2*limb.Radius*cheetahPixels),
			s.animate("x1", values[0]), s.animate("y1", values[1]),
			s.animate("x2", values[2]), s.animate("y2", values[3]))
	}
	first := c.frames[0]
	if first.Wind == 0 && first.Target == 0 {
		return // gymnasium's task has neither wind nor target
	}
	c.wind(s, first.Wind)
	c.gauge(s, keep)
}

// ground draws a line with a mark every half metre, which moves under the runner.
func (c *cheetahFilm) ground(s *svg, keep []int) {
	from, to := math.Inf(1), math.Inf(-1)
	var values []string
	for _, k := range keep {
		x := c.frames[k].X
		from, to = min(from, x), max(to, x)
		values = append(values, number(cheetahWidth/2-x*cheetahPixels)+" 0")
	}
	s.printf(`<line x1="0" x2="%d" y1="%v" y2="%v" stroke="#888" stroke-width="2"/>`,
		cheetahWidth, cheetahFloor, cheetahFloor)
	s.printf(`<g stroke="#888" transform="translate(%s)">%s`, values[0], s.transform("translate", values))
	reach := cheetahWidth / 2 / cheetahPixels
	for m := int(math.Floor(from - reach)); m <= int(math.Ceil(to+reach)); m++ {
		x := number(float64(m) * cheetahPixels)
		const marks = `<path d="M%s %vv10m%s -10v5"/>` +
			`<text x="%s" y="%v" font-size="12" fill="#666" stroke="none" text-anchor="middle">%d m</text>`
		s.printf(marks, x, cheetahFloor, number(cheetahPixels/2), x, cheetahFloor+24, m)
	}
	s.printf(`</g>`)
}

// wind draws an arrow whose length is proportional to the force.
func (c *cheetahFilm) wind(s *svg, force float64) {
	const x, y, perNewton = 120., 90., 9.
	s.text(x, y-14, "middle", 13, fmt.Sprintf("wind %+.1f N", force))
	if math.Abs(force) < 0.1 {
		return
	}
	half, head := force*perNewton/2, math.Copysign(9, force)
	s.printf(`<path d="M%s %vH%s" stroke="#3ca951" stroke-width="5"/><path d="M%s %vl%s -9v18z" fill="#3ca951"/>`,
		number(x-half), y, number(x+half), number(x+half+head), y, number(-head*1.4))
}

// gauge draws the velocity as a bar and the target as a mark.
func (c *cheetahFilm) gauge(s *svg, keep []int) {
	const zero, y = 400., 86.
	var starts, widths []string
	for _, k := range keep {
		v := min(max(c.frames[k].Velocity, -1), 3.4) * cheetahGauge
		starts, widths = append(starts, number(zero+min(v, 0))), append(widths, number(math.Abs(v)))
	}
	s.printf(`<rect x="%s" y="%v" width="%s" height="12" fill="#6cc5b0">%s%s</rect>`,
		starts[0], y-6, widths[0], s.animate("x", starts), s.animate("width", widths))
	s.printf(`<path d="M%v %vv20" stroke="#888"/>`, zero, y-10)
	target := c.frames[0].Target
	s.printf(`<path d="M%s %vv28" stroke="#d62728" stroke-width="3"/>`, number(zero+target*cheetahGauge), y-14)
	s.text(zero+target*cheetahGauge, y-20, "middle", 13, fmt.Sprintf("target %.2f m/s", target))
	s.text(zero-8, y+28, "start", 12, "0")
	s.text(zero+40, y+28, "start", 12, "velocity")
}
