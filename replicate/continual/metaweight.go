package continual

import (
	"context"

	"tvps/data/random"
	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// newMetaWeight prepares Meta-Weight-Net around the classifier's model.
func newMetaWeight(backend compute.Backend, c *Classifier, classes int) (*metaweight.Trainer, error) {
	return metaweight.New(backend, metaweight.DefaultConfig(), metaweight.Model{
		Params: c.params, Classes: classes,
		Losses: func(s *net.Scope, pool, row, label *Node) *Node {
			x := ConvertDType(Gather(pool, ExpandAxes(row, -1)), dtypes.Float32)
			return net.CrossEntropy(network(s, c.settings, x, classes), label)
		},
	})
}

// metaWeightNet trains on all steps up to t with weights that are learned on the samples
// of step t (interpretation 18).
func metaWeightNet(ctx context.Context, b *bench, t int) (net.Values, error) {
	data, latest := b.stream.Upto(upto(t)), b.stream.Train(t)
	start := b.classifier.Standardise(b.start(t), b.stream.X, data)
	updates := updatesOf(data.Len(), b.settings.Epochs, metaweight.DefaultConfig().Batch, b.settings.MaxUpdates)
	theta, _, err := b.metaWeight.Fit(ctx, b.stream.Pool, start,
		metaweight.Samples{Row: data.Row, Label: data.Label}, metaweight.Samples{Row: latest.Row, Label: latest.Label},
		updates, random.Seed(b.seed, "metaweight", t))
	return theta, err
}
