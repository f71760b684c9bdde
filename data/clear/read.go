package clear

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/nlpodyssey/gopickle/types"
)

// Load reads the features at a folder or a zip in one of the layouts of the package comment. The published set has
// 30,000 rows of 2,048 values, 245 MB. It fails, naming the file, if a bucket lacks a class, there are fewer than ten
// buckets, vectors differ in length, or a .pth file is damaged or has other content than expected.
func Load(ctx context.Context, at string) (*Set, error) {
	a, err := open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.close() }()
	s := &Set{Path: a.path, Classes: a.classes}
	sum := sha256.New()
	fmt.Fprintf(sum, "clear/1 %s\n%s\n", features, strings.Join(s.Classes, "\n"))
	for _, bucket := range a.buckets {
		for label, class := range s.Classes {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			name := path.Join(a.folder, fmt.Sprint(bucket), class+".pth")
			if err := s.add(a, name, int32(bucket), int32(label)); err != nil {
				return nil, fmt.Errorf("clear: cannot use %s in %s: %w; get the archive again", name, a.path, err)
			}
		}
	}
	for i := range s.Len() {
		_ = binary.Write(sum, binary.LittleEndian, []int32{s.Bucket[i], s.Label[i]}) // a hash takes all
		_ = binary.Write(sum, binary.LittleEndian, s.Row(i))
	}
	s.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return s, nil
}

// add appends the images of a file, {id: vector}, in the file's order.
func (s *Set) add(a *archive, name string, bucket, label int32) error {
	raw, err := fs.ReadFile(a, name)
	if err != nil {
		return err
	}
	value, err := readPTH(raw)
	if err != nil {
		return err
	}
	images, ok := value.(*types.Dict)
	if !ok {
		return fmt.Errorf("it should be a dict of images, but is a %T", value)
	}
	for _, image := range *images {
		x, ok := image.Value.(vector)
		if s.Dim == 0 {
			s.Dim = len(x)
			s.X = make([]float32, 0, images.Len()*s.Dim*Classes*Buckets)
		}
		if !ok || len(x) != s.Dim {
			return fmt.Errorf("its image %.40q is not a vector of %d values", fmt.Sprint(image.Key), s.Dim)
		}
		s.X, s.Label, s.Bucket = append(s.X, x...), append(s.Label, label), append(s.Bucket, bucket)
	}
	return nil
}
