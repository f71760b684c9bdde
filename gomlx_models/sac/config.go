package sac

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"tvps/gomlx_models/propensity"
)

// Config holds every setting of an agent. Its JSON form is part of a checkpoint: an agent
// loads only checkpoints of the same settings.
type Config struct {
	Observations int // values of an observation
	Actions      int // values of an action, each in [-1, 1]

	Hidden   int     // units of each hidden layer of actor and critic
	Layers   int     // hidden layers of actor and critic
	Batch    int     // transitions per update, of each seed
	Gamma    float64 // discount factor
	Tau      float64 // share of the critic in the target network after an update
	Capacity int     // transitions of each seed that the replay holds
	BurnIn   int     // steps of random actions before the first update; the caller obeys it
	Recent   int     `json:",omitempty"` // latest episodes that minibatches are drawn from; 0 for all

	ActorRate  float64 // learning rate of Adam
	CriticRate float64
	Alpha      float64 // entropy coefficient; its initial value if it is learned
	LearnAlpha bool    // learn alpha, towards an entropy of -Actions
	AlphaRate  float64

	Context *Context `json:",omitempty"` // nil for none
	Omega   *Omega   `json:",omitempty"` // nil for plain SAC
}

// Context gives actor and critic a recurrent memory of the current episode.
type Context struct {
	Hidden  int // units of the GRU
	History int // steps that it sees
}

// Omega weights the critic's loss by the time-varying propensity score. Package propensity
// has g itself: its networks, time encodings, loss and clips.
type Omega struct {
	Method  propensity.Method       // Method1 or Method2
	Network propensity.Network      `json:",omitempty"` // of g; one of propensity.BatchedNetworks(); "" means Deep
	Hidden  int                     // units of each hidden layer of g
	Layers  int                     // Deep: fully connected layers of g, including the output layer
	Rate    float64                 // learning rate of Adam
	Updates int                     // M, minibatches of one fit; 0 leaves omega at 1
	Batch   int                     // triplets per minibatch
	Every   int                     // episodes between two fits; 0 fits before every update of the critic
	Clip    propensity.ClipPolicy   // limit of omega
	Time    propensity.TimeEncoding // how the episode's number enters g; one of propensity.ContinuousEncodings()
	Waves   int                     // number of frequencies, for encodings that have them
}

// Validate returns an error that names the first impossible setting.
func (c Config) Validate() error {
	if o := c.Omega; o != nil {
		err := cmp.Or(o.g().ValidateBatched(), propensity.AtLeast("batch", o.Batch, 1),
			propensity.AtLeast("updates", o.Updates, 0), propensity.AtLeast("every", o.Every, 0), notNegative("rate", o.Rate))
		if err != nil {
			return fmt.Errorf("sac: the omega %w", err)
		}
	}
	context := cmp.Or(c.Context, &Context{1, 1})
	err := cmp.Or(
		propensity.AtLeast("observations", c.Observations, 1), propensity.AtLeast("actions", c.Actions, 1),
		propensity.AtLeast("hidden", c.Hidden, 1), propensity.AtLeast("layers", c.Layers, 0),
		propensity.AtLeast("batch", c.Batch, 1), propensity.AtLeast("capacity", c.Capacity, 1),
		propensity.AtLeast("recent", c.Recent, 0),
		propensity.AtLeast("units of the context", context.Hidden, 1),
		propensity.AtLeast("history of the context", context.History, 1),
		notNegative("actor rate", c.ActorRate), notNegative("critic rate", c.CriticRate),
		notNegative("alpha rate", c.AlphaRate), notNegative("alpha", c.Alpha),
		notNegative("gamma", c.Gamma), notNegative("tau", c.Tau),
	)
	switch {
	case err != nil:
		return fmt.Errorf("sac: %w", err)
	case c.Gamma > 1 || c.Tau > 1:
		return fmt.Errorf("sac: gamma is %v and tau %v; they must be at most 1", c.Gamma, c.Tau)
	case c.LearnAlpha && c.Alpha == 0:
		return errors.New("sac: alpha is 0; it must be positive if it is learned")
	}
	return nil
}

// notNegative returns an error for what is neither 0 nor a positive, finite number.
func notNegative(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %v; it must be a finite number of at least 0", name, v)
	}
	return nil
}
