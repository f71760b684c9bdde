package resnet

import (
	"encoding/json"
	"fmt"
	"slices"

	"tvps/gomlx_models/net"
)

const velocityPrefix = "velocity/"

// Checkpoint returns the state as a checkpoint, with settings, epoch and loss as metadata. With
// velocity, Resume can continue the training; without, it is the finished network.
func (s *State) Checkpoint(params []net.Param, velocity bool) net.Checkpoint {
	config, _ := json.Marshal(s.Config)
	c := net.Checkpoint{Params: slices.Clone(params), Values: slices.Clone(s.Weights), Metadata: map[string]string{
		"config": string(config), "epoch": fmt.Sprint(s.Epoch), "loss": fmt.Sprint(s.Loss),
	}}
	if velocity {
		for i, p := range params {
			p.Name = velocityPrefix + p.Name
			c.Params = append(c.Params, p)
			c.Values = append(c.Values, s.Velocity[i])
		}
	}
	return c
}

// Resume returns the state of a training from its checkpoint with velocity. It fails if the
// settings are not cfg, or if arrays, settings, epoch or
// loss are missing.
func Resume(c *net.Checkpoint, params []net.Param, cfg Config) (*State, error) {
	s := &State{}
	if err := json.Unmarshal([]byte(c.Metadata["config"]), &s.Config); err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint has no training settings: %w", err)
	}
	if s.Config != cfg {
		return nil, fmt.Errorf("resnet: the checkpoint was trained with other settings (%+v, not %+v); "+
			"delete it to train from scratch, or use its settings", s.Config, cfg)
	}
	if _, err := fmt.Sscan(c.Metadata["loss"]+" "+c.Metadata["epoch"], &s.Loss, &s.Epoch); err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint has no epoch or no loss in its metadata: %w", err)
	}
	var err error
	if s.Weights, err = c.Select(params, ""); err == nil {
		s.Velocity, err = c.Select(params, velocityPrefix)
	}
	if err != nil {
		return nil, fmt.Errorf("resnet: %w", err)
	}
	return s, nil
}
