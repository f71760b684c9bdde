package supervised

import (
	"context"

	"tvps/data/random"
	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// metaWeightNet trains on all steps up to t with weights that are learned on the samples of step t (interpretation
// 18).
func metaWeightNet(run *RunContext) (TrainFunc, error) {
	c := run.Classifier
	trainer, err := memoize(&run.Engine.memo, run.modelKey(), func() (*metaweight.Trainer, error) {
		return metaweight.New(run.Engine.Backend, metaweight.DefaultConfig(), metaweight.Model{Params: c.params,
			Losses: func(s *net.Scope, pool, row, label *Node) *Node {
				return net.CrossEntropy(c.logits(s, pool, row), label)
			}})
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t int) (net.Values, error) {
		data, latest := run.Stream.Upto(0, t), run.Stream.Train(t)
		start := c.Standardise(run.Start(t), run.Stream.X, data)
		s := run.Settings
		updates := updatesOf(data.Len(), s.Epochs, metaweight.DefaultConfig().Batch, s.MaxUpdates)
		values, _, err := trainer.Fit(ctx, run.Stream.Pool, start,
			metaweight.Samples{Row: data.Row, Label: data.Label}, metaweight.Samples{Row: latest.Row, Label: latest.Label},
			updates, random.Seed(run.Seed, "metaweight", t))
		return values, err
	}, nil
}
