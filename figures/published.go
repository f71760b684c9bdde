package figures

import _ "embed"

// What `go run ./replicate verify` says of the gallery's runs, at the small and at the medium scale: a page shows next
// to its own verdicts those of this larger sample.
var (
	//go:embed gallery/verify.json
	GallerySmall []byte
	//go:embed gallery/medium/verify.json
	GalleryMedium []byte
)
