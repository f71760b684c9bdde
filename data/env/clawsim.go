package env

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
)

// clawSim is the simulation of the claw with one valve.
type clawSim struct {
	*simulation
	bodies, tips []float64 // positions of all bodies and of all sites
	joints       [3][3]int // bodies of each finger, from the root
	ends         [3]int    // sites at the tips of the fingers
}

// clawScene is the model: the official robot on its mount, the floor, and a valve on a motor.
// The motor is slightly wider than the hub of the valve, so contacts between the two are
// excluded; otherwise they would jam. Parts without contacts are left out.
const clawScene = `<mujoco model="claw">
  <include file="assets/dependencies3xh.xml"/>
  <compiler discardvisual="true"/>
  <asset>%s</asset>
  <default>
    <default class="motor"><geom condim="4" margin="0.0005" group="4"/></default>
    <default class="valve">
      <joint type="hinge" limited="true" damping="0.1" armature="0.001"/>
      <geom condim="4" margin="0.0005" group="4" friction="0.2 0.005 0.0001"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="mount" pos="0 0 0.335">
      <geom type="cylinder" size="0.03 0.005"/>
      <include file="assets/chain3xh.xml"/>
    </body>
    <body name="base" pos="0 0 %v">
      <geom class="motor" type="mesh" mesh="xh28_hull" pos="0 0 0.018" euler="0 0 1.57"/>
      %s
    </body>
  </worldbody>
  <contact><exclude body1="base" body2="valve"/></contact>
</mujoco>`

// clawModel returns the scene with valve v, and the files that it includes. Its position
// servos have the benchmark's gain of 10; in the official model it is 2.
func clawModel(files map[string][]byte, v int) (xml []byte, assets map[string][]byte, err error) {
	assets = maps.Clone(files)
	for name, data := range assets { // MuJoCo's parser accepts no XML declaration after a comment
		if strings.HasSuffix(name, ".xml") {
			assets[name] = bytes.Replace(data, []byte(`<?xml version="1.0"?>`), nil, 1)
		}
	}
	servos := assets["assets/dependencies3xh.xml"]
	if n := bytes.Count(servos, []byte(`kp="2"`)); n != clawJoints {
		return nil, nil, fmt.Errorf("the D'Claw's model has %d servos of gain 2 instead of %d", n, clawJoints)
	}
	servos = bytes.ReplaceAll(servos, []byte(`kp="2"`), []byte(`kp="10"`))
	assets["assets/dependencies3xh.xml"] = bytes.ReplaceAll(servos, []byte("../dclaw/"), nil)
	mesh, body, base := valves[v].mjcf()
	return fmt.Appendf(nil, clawScene, mesh, base, body), assets, nil
}

// newClawSim starts a simulation of the scene with valve v.
func newClawSim(lib *library, files map[string][]byte, v int) (*clawSim, error) {
	xml, assets, err := clawModel(files, v)
	if err != nil {
		return nil, err
	}
	model, err := lib.compile(xml, assets)
	if err != nil {
		return nil, fmt.Errorf("the D'Claw with valve %d: %w", v, err)
	}
	defer model.Close()
	sim, err := model.simulate()
	if err != nil {
		return nil, fmt.Errorf("the D'Claw with valve %d: %w", v, err)
	}
	s := &clawSim{simulation: sim}
	if err := s.find(model); err != nil {
		sim.Close()
		return nil, err
	}
	return s, nil
}

// find looks up what pose returns.
func (s *clawSim) find(model *mjModel) (err error) {
	for f, names := range [3][4]string{
		{"FF10", "FFL11", "FFL12", "FFtip"}, {"MF20", "MFL21", "MFL22", "MFtip"}, {"TH30", "THL31", "THL32", "THtip"},
	} {
		for k := range 3 {
			if s.joints[f][k], err = model.ID(mjBody, names[k]); err != nil {
				return err
			}
		}
		if s.ends[f], err = model.ID(mjSite, names[3]); err != nil {
			return err
		}
	}
	if s.bodies, err = s.Output("xpos"); err != nil {
		return err
	}
	s.tips, err = s.Output("site_xpos")
	return err
}

// clawPose is what a picture of a D'Claw shows at one moment.
type clawPose struct {
	Fingers [3][4][3]float64 // the joints of each finger and its tip, m
	Shapes  []outline        // outlines of the valve from above, at its angle
	Angle   float64          // of the valve, rad
	Success bool
}

// outline is the outline of a convex part of a valve from above: all points within Radius of
// the polygon with these Corners (or of the line between two). Lengths are in metres.
type outline struct {
	Corners [][2]float64
	Radius  float64
}

// pose returns the present pose.
func (c *Claw) pose() clawPose {
	s := c.now
	angle := s.QPos[clawJoints]
	p := clawPose{Shapes: valves[c.valve].shapes(angle), Angle: angle, Success: c.Success()}
	for f := range p.Fingers {
		for k, body := range s.joints[f] {
			copy(p.Fingers[f][k][:], s.bodies[3*body:])
		}
		copy(p.Fingers[f][3][:], s.tips[3*s.ends[f]:])
	}
	return p
}

// shapes returns the valve's outlines from above, turned by an angle.
func (v valve) shapes(angle float64) []outline {
	var list []outline
	for _, s := range v.plate.slabs {
		list = append(list, shape(s.corners, s.round, angle))
	}
	for _, c := range v.capsules {
		list = append(list, shape(c.ends(), capsuleRound, angle+capsuleTurn))
	}
	return list
}

// shape returns an outline in metres of lengths in mm, turned by an angle.
func shape(corners []point, radius, angle float64) outline {
	sin, cos := math.Sincos(angle)
	s := outline{Radius: radius / 1000}
	for _, p := range corners {
		s.Corners = append(s.Corners, [2]float64{(cos*p[0] - sin*p[1]) / 1000, (sin*p[0] + cos*p[1]) / 1000})
	}
	return s
}
