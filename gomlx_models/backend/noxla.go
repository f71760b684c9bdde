//go:build noxla

package backend

import (
	"context"
	"errors"
)

// XLABuilt tells whether this binary can use XLA.
const XLABuilt = false

var errNoXLA = errors.New("this program was built with -tags noxla and has only the Go backend; " +
	"build it without that tag (on Linux, with a C compiler) or use --backend go")

func openXLACPU(context.Context, Options) (*Backend, error)  { return nil, errNoXLA }
func openXLACUDA(context.Context, Options) (*Backend, error) { return nil, errNoXLA }
