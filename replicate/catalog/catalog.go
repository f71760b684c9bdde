// Package catalog puts together what the command line and the notebooks can make: the paper's figures, and the two
// protocols that they are experiments of.
package catalog

import (
	"tvps/replicate/continual"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/protocol"
	"tvps/replicate/reinforce"
)

// Paper is the catalog of the paper.
func Paper() lab.Catalog {
	return lab.Catalog{
		Figures:   paper.Figures(),
		Protocols: []*protocol.Protocol{&continual.Protocol, &reinforce.Protocol},
	}
}
