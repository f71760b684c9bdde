package lab

import (
	"context"
	"fmt"
	"strings"

	"tvps/replicate/claims"
)

// Verify judges every claim of the catalog by the runs that are stored for these options. It computes nothing. A
// claim is not run if a run or a step of it is missing. Errors: usage errors, an unreadable store, an interruption.
func (l *Lab) Verify(ctx context.Context, o Options) (claims.Verification, error) {
	v := claims.Verification{Scale: o.Scale, Set: o.Overrides, Data: []string{}, Command: o.Command("verify")}
	o.AllFigures = true
	var panels []claims.Collected
	for _, f := range l.FiguresAt(o.Scale) {
		if err := ctx.Err(); err != nil {
			return v, fmt.Errorf("interrupted: %w", err)
		}
		stored, state, err := l.stored(f, o)
		if err != nil {
			return v, fmt.Errorf("%s: %w", f.Name(), err)
		}
		v.Add(state, stored, o.judge(f, stored))
		panels = append(panels, stored...)
	}
	v.Backend = strings.Join(backends(panels, l.Host.Backend.Info.Name), ", ")
	claims.Correct(v.Claims)
	return v, nil
}
