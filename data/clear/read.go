package clear

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"

	"github.com/nlpodyssey/gopickle/types"
)

// image holds the features of one image in a file that was read.
type image struct {
	id     string // for messages
	label  int
	values *tensor
}

// read reads the planned files into a set and completes the report.
func (p *plan) read(ctx context.Context) (*Set, error) {
	r := p.report
	s := &Set{Report: r, Classes: r.Classes}
	images := make([]int, Classes)
	sum := sha256.New()
	fmt.Fprintf(sum, "clear/1 %s\n%s\n", r.Type, strings.Join(r.Classes, "\n"))
	var buffer bytes.Buffer // one for all files: garbage of 245 MB would double the memory in use
	for _, f := range p.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := s.Len()
		if err := p.readInto(s, f, &buffer); err != nil {
			return nil, fmt.Errorf("clear: cannot use %s in %s: %w; get the archive again", f.name, p.path, err)
		}
		for i := first; i < s.Len(); i++ {
			images[s.Label[i]]++
			hashImage(sum, s, i)
		}
	}
	r.Images, r.Dim, r.SHA256 = images, s.Dim, hex.EncodeToString(sum.Sum(nil))
	return s, nil
}

// readInto appends the images of a file, ordered by class and then as in the file.
func (p *plan) readInto(s *Set, f file, buffer *bytes.Buffer) error {
	raw, err := p.readFile(buffer, f.name)
	if err != nil {
		return err
	}
	value, err := readPTH(raw)
	if err != nil {
		return err
	}
	var images []image
	if f.label >= 0 {
		images, err = ofClass(value, f.label)
	} else {
		images, err = p.ofBucket(value)
	}
	if err != nil {
		return err
	}
	if s.Dim == 0 {
		s.Dim = len(images[0].values.Values)
		s.X = make([]float32, 0, len(images)*s.Dim*len(p.files))
	}
	for _, im := range images {
		if err := s.add(im); err != nil {
			return err
		}
		s.Bucket = append(s.Bucket, int32(f.bucket))
	}
	return nil
}

// ofClass returns the images of {id: tensor[dim]}.
func ofClass(value any, label int) ([]image, error) {
	dict, ok := value.(*types.Dict)
	if !ok || dict.Len() == 0 {
		return nil, fmt.Errorf("it should be a dict of images, but is: %s", describe(value))
	}
	images := make([]image, dict.Len())
	for i, entry := range *dict {
		id := fmt.Sprintf("%.40q", fmt.Sprint(entry.Key))
		t, ok := entry.Value.(*tensor)
		if !ok || len(t.Shape) != 1 {
			return nil, fmt.Errorf("its image %s should be a vector, but is: %s", id, describe(entry.Value))
		}
		images[i] = image{id, label, t}
	}
	return images, nil
}

// ofBucket returns the images of (tensor[n, dim], [label, ...]), sorted by class and without
// BACKGROUND. A label is the number of a line of class_names.txt, from 0.
func (p *plan) ofBucket(value any) ([]image, error) {
	pair, ok := value.(*types.Tuple)
	if !ok || pair.Len() != 2 {
		return nil, fmt.Errorf("it should be a tensor and its labels, but is: %s", describe(value))
	}
	t, ok1 := pair.Get(0).(*tensor)
	list, ok2 := pair.Get(1).(*types.List)
	if !ok1 || !ok2 || len(t.Shape) != 2 || t.Shape[0] != list.Len() {
		return nil, fmt.Errorf("it should be a matrix and a label for each row, but is: %s, %s",
			describe(pair.Get(0)), describe(pair.Get(1)))
	}
	byName := map[string][]image{}
	for i, v := range *list {
		label, ok := v.(int)
		if !ok || label < 0 || label >= len(p.names) {
			return nil, fmt.Errorf("the label of its row %d is not one of the %d in class_names.txt", i, len(p.names))
		}
		name := p.names[label]
		byName[name] = append(byName[name], image{id: fmt.Sprint(i), values: t.Sub(i)})
	}
	var images []image
	for label, name := range p.report.Classes {
		if len(byName[name]) == 0 {
			return nil, fmt.Errorf("it has no image of the class %s", name)
		}
		for _, im := range byName[name] {
			im.label = label
			images = append(images, im)
		}
	}
	return images, nil
}

func (s *Set) add(im image) error {
	if n := len(im.values.Values); n != s.Dim {
		return fmt.Errorf("its image %s has %d values, others have %d", im.id, n, s.Dim)
	}
	s.Label, s.X = append(s.Label, int32(im.label)), append(s.X, im.values.Values...)
	for i, v := range s.Row(s.Len() - 1) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("its image %s has the value %g at %d", im.id, v, i)
		}
	}
	return nil
}

func hashImage(sum hash.Hash, s *Set, i int) {
	row := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+4*s.Dim), uint32(s.Bucket[i]))
	row = binary.LittleEndian.AppendUint32(row, uint32(s.Label[i]))
	row, _ = binary.Append(row, binary.LittleEndian, s.Row(i)) // no error: numbers have a size
	sum.Write(row)
}
