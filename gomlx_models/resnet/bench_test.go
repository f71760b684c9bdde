package resnet

import (
	"fmt"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

var engines = []struct{ label, name string }{{"xla", ""}, {"go", "go"}}

// BenchmarkTrainStep times one training step of width 16, with a batch of 128 on XLA. On the Go
// backend, which would take minutes, the batch is 4. Compare the metric images/s.
func BenchmarkTrainStep(b *testing.B) {
	for _, engine := range engines {
		batch := map[string]int{"xla": 128, "go": 4}[engine.label]
		b.Run(fmt.Sprintf("%s/batch=%d", engine.label, batch), func(b *testing.B) {
			cfg, c, im := DefaultConfig(16), randomCheckpoint(b, 16), noise(batch)
			exec, err := NewExec(open(b, engine.name), stepGraph(c.Params, cfg))
			demand.NoError(b, err)
			defer exec.Finalize()
			images := tensors.FromFlatDataAndDimensions(im.Pixels, batch, 3, 32, 32)
			labels := tensors.FromValue(make([]int32, batch))
			held := append(c.Values.Tensors(c.Params), c.Values.Tensors(c.Params)...)
			train := func() {
				out, err := net.Run(exec, images, labels, float32(1e-6), held)
				demand.NoError(b, err)
				net.Free(held...)
				held = out[1:]
			}
			train() // compiles
			for b.Loop() {
				train()
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
