package supervised

import (
	"context"

	"tvps/data/random"
	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// metaWeightNet trains on all steps up to t with weights that are learned on the samples of step t (interpretation
// 18).
func metaWeightNet(run *RunContext) (TrainFunc, error) {
	trainer, err := memoize(&run.Engine.memo, run.modelKey(), func() (*metaweight.Trainer, error) {
		return metaweight.New(run.Engine.Backend, metaweight.DefaultConfig(), run.Classifier.metaModel())
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t int) (net.Values, error) {
		data, latest := run.Stream.Upto(0, t), run.Stream.Train(t)
		start := run.Classifier.Standardise(run.Start(t), run.Stream.X, data)
		s := run.Settings
		updates := updatesOf(data.Len(), s.Epochs, metaweight.DefaultConfig().Batch, s.MaxUpdates)
		values, _, err := trainer.Fit(ctx, run.Stream.Pool, start,
			metaweight.Samples{Row: data.Row, Label: data.Label}, metaweight.Samples{Row: latest.Row, Label: latest.Label},
			updates, random.Seed(run.Seed, "metaweight", t))
		return values, err
	}, nil
}

// metaModel returns the classifier's model as Meta-Weight-Net trains it.
func (c *Classifier) metaModel() metaweight.Model {
	return metaweight.Model{
		Params: c.params,
		Losses: func(s *net.Scope, pool, row, label *Node) *Node {
			x := ConvertDType(Gather(pool, ExpandAxes(row, -1)), dtypes.Float32)
			return net.CrossEntropy(network(s, c.settings, x, c.classes), label)
		},
	}
}
