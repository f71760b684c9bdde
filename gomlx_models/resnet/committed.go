package resnet

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
func Load(dir string, width int, split int64) (c *Checkpoint, hash string, err error) {
	name, source := FileName(width, split), dir
	var sum [sha256.Size]byte
	err = fs.ErrNotExist
	if dir != "" {
		c, sum, err = readCheckpoint(filepath.Join(dir, name))
	}
	if errors.As(err, new(*fs.PathError)) || errors.Is(err, fs.ErrNotExist) {
		data, readErr := committed.ReadFile("checkpoints/" + name)
		if readErr != nil {
			return nil, "", fmt.Errorf("there is no ResNet-18 checkpoint of width %d for split %d; make it with "+
				"`go run ./replicate pretrain --width %d --seed %d`, or use the committed one with "+
				"--set width=16 --set checkpoint=committed", width, split, width, split)
		}
		source = "the program (committed)"
		c, sum, err = decodeCheckpoint(bytes.NewReader(data), int64(len(data)))
	}
	if err != nil {
		return nil, "", fmt.Errorf("resnet: the checkpoint %s in %s is damaged (%w); "+
			"make it again with `go run ./replicate pretrain`", name, source, err)
	}
	return c, hex.EncodeToString(sum[:8]), nil
}
