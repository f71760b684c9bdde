package env

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
)

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
func newClawSim(lib *library, files map[string][]byte, v int) (*simulation, error) {
	xml, assets, err := clawModel(files, v)
	if err != nil {
		return nil, err
	}
	sim, err := lib.simulate(xml, assets)
	if err != nil {
		return nil, fmt.Errorf("the D'Claw with valve %d: %w", v, err)
	}
	return sim, nil
}
