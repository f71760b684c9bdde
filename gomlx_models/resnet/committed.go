package resnet

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// The committed checkpoint: width 16, trained by `go run ./replicate pretrain
// --width 16` on the 45,000 training images of split seed 0. Its metadata says with
// which settings and versions, and what accuracy it reached.
//
//go:embed checkpoints/*.safetensors
var committed embed.FS

// FileName is the name of a finished checkpoint.
func FileName(width int, split int64) string {
	return fmt.Sprintf("resnet18-w%d-split%d.safetensors", width, split)
}

// Load returns the finished checkpoint of a width and split seed: one that pretrain
// left in the folder dir, if dir is not empty, else the committed one (width 16, split
// 0). The hash names its contents.
func Load(dir string, width int, split int64) (c *Checkpoint, hash string, err error) {
	name := FileName(width, split)
	where := "the program (committed)"
	data, err := committed.ReadFile("checkpoints/" + name)
	if dir != "" {
		if own, ownErr := os.ReadFile(filepath.Join(dir, name)); ownErr == nil {
			data, err, where = own, nil, dir
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("there is no ResNet-18 checkpoint of width %d for split %d; make it with `go run ./replicate pretrain --width %d --seed %d`, or take the one in the repository with --set width=16 --set checkpoint=committed", width, split, width, split)
	}
	if c, err = decodeCheckpoint(data); err != nil {
		return nil, "", fmt.Errorf("resnet: the checkpoint %s in %s is damaged (%w); make it again with `go run ./replicate pretrain`", name, where, err)
	}
	sum := sha256.Sum256(data)
	return c, hex.EncodeToString(sum[:8]), nil
}
