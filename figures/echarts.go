package figures

import _ "embed"

// ECharts is the text of echarts.min.js, version 5.6.0 as published on npm; its licence is in the folder echarts. It
// lies next to pages, and notebooks load it from Jupyter's server, so that charts need no network.
//
//go:embed echarts/echarts.min.js
var ECharts []byte

// networkScript is an address of ECharts with the hash that the browser must find there.
type networkScript struct {
	Src       string `json:"src"`
	Integrity string `json:"integrity,omitempty"`
}

// published is ECharts 5.4.3 on the network, for a page that was copied without its script.
var published = networkScript{
	Src:       "https://go-echarts.github.io/go-echarts-assets/assets/echarts.min.js",
	Integrity: "sha384-PpgrXpnquO1pL7h9CGCAR6K7B62r8ZFzdHKzC/FtQ/0Pm4MLQNTcS2yt12JX+rkb",
}

// pageSources lists where a page looks for ECharts: next to itself, in the folder above, which several figures may
// share, and on the network.
var pageSources = []networkScript{{Src: ScriptFile}, {Src: "../" + ScriptFile}, published}

// cellSources lists where the output of a notebook's cell looks for ECharts: the file that `go run ./kernel install`
// makes JupyterLab serve, then a file in the folder in which Jupyter was started. {base} stands for Jupyter's base
// URL.
var cellSources = []string{"{base}lab/extensions/tvps/static/" + ScriptFile, "{base}files/" + ScriptFile}

// ScriptFile is the name of the file with the text of [ECharts].
const ScriptFile = "echarts.min.js"
