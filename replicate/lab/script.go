package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"tvps/data/artifact"
	"tvps/data/echarts"
)

// PageScript returns the text of echarts.min.js for Lab.ECharts: the file that TVPS_ECHARTS names, or the pinned one
// from the cache or the network. If it cannot be obtained the result is nil, with a warning to log: pages then load it
// from the network.
func PageScript(ctx context.Context, log io.Writer) []byte {
	own := os.Getenv("TVPS_ECHARTS")
	if strings.Contains(own, "://") {
		own = "" // an address, for notebooks
	}
	cache, err := artifact.CacheDir()
	var text []byte
	if err == nil {
		text, err = echarts.Cached(ctx, cache, echarts.Options{File: own, Log: log})
	}
	if err != nil {
		fmt.Fprintf(log, "warning: without a network the charts will be static pictures: %v; "+
			"get echarts.min.js elsewhere and name it with TVPS_ECHARTS\n", err)
		return nil
	}
	return text
}
