package resnet

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/gomlx_models/net"
)

// committed holds the committed checkpoint: width 16, trained by `go run ./replicate pretrain
// --width 16` on the 45,000 training images of split seed 0. Its metadata contain settings,
// versions and accuracy.
//
//go:embed checkpoints/*.safetensors
var committed embed.FS

// FileName is the file name of the finished checkpoint of a width and split seed.
func FileName(width int, split int64) string {
	return fmt.Sprintf("resnet18-w%d-split%d.safetensors", width, split)
}

// Load returns the finished checkpoint of a width and split seed. It reads the file FileName in
// the folder dir, where `pretrain` writes it. If dir is "" or has no readable file of this name,
// it returns the committed checkpoint, which exists for width 16 and split 0 only. hash is the
// first 16 hexadecimal digits of the file's SHA-256. A checkpoint that is missing or damaged is
// an error.
func Load(dir string, width int, split int64) (c *net.Checkpoint, hash string, err error) {
	name, source := FileName(width, split), dir
	var data []byte
	err = fs.ErrNotExist
	if dir != "" {
		data, err = os.ReadFile(filepath.Join(dir, name))
	}
	if err != nil {
		source = "the program (committed)"
		if data, err = committed.ReadFile("checkpoints/" + name); err != nil {
			return nil, "", fmt.Errorf("there is no ResNet-18 checkpoint of width %d for split %d; make it with "+
				"`go run ./replicate pretrain --width %d --seed %d`, or use the committed one with "+
				"--set width=16 --set checkpoint=committed", width, split, width, split)
		}
	}
	if c, err = net.DecodeCheckpoint(data); err != nil {
		return nil, "", fmt.Errorf("resnet: the checkpoint %s in %s is damaged (%w); "+
			"make it again with `go run ./replicate pretrain`", name, source, err)
	}
	sum := sha256.Sum256(data)
	return c, hex.EncodeToString(sum[:8]), nil
}
