module tvps

go 1.26.5

exclude github.com/gomlx/compute-onnx v0.1.0

require (
	github.com/agext/levenshtein v1.2.3
	github.com/go-echarts/go-echarts/v2 v2.6.7
	github.com/go-logr/logr v1.4.3
	github.com/gofrs/flock v0.13.0
	github.com/gomlx/compute v0.1.3
	github.com/gomlx/go-xla v0.4.2
	github.com/gomlx/gomlx v0.28.4
	github.com/google/go-cmp v0.7.0
	github.com/google/renameio/v2 v2.0.0
	github.com/klauspost/compress v1.18.2
	github.com/schollz/progressbar/v3 v3.19.0
	github.com/spf13/cobra v1.10.1
	golang.org/x/image v0.26.0
	golang.org/x/term v0.40.0
	gonum.org/v1/gonum v0.17.0
	gonum.org/v1/plot v0.15.2
	k8s.io/klog/v2 v2.140.0
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.1.0 // indirect
	codeberg.org/go-pdf/fpdf v0.10.0 // indirect
	git.sr.ht/~sbinet/gg v0.6.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/sys v0.43.0 // indirect
	golang.org/x/text v0.35.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
