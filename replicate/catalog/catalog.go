// Package catalog combines the paper's figures with the two protocols of their experiments, for the command line and
// the notebooks.
package catalog

import (
	"tvps/replicate/continual"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/protocol"
	"tvps/replicate/reinforce"
)

// Paper returns the catalog of the paper.
func Paper() lab.Catalog {
	return lab.Catalog{
		Figures:   paper.Figures(),
		Protocols: []*protocol.Protocol{&continual.Protocol, &reinforce.Protocol},
	}
}
