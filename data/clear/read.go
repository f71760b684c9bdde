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
)

const (
	maxFile   = 256 << 20 // largest size of a .pth file, bytes; the largest published one has 27 MB
	maxValues = 1 << 28   // largest number of values of all images, over four times the published one
)

// batch holds the used images of one file, ordered by class and then as in the file. It is
// valid until the next one is read.
type batch struct {
	bucket int
	dim    int
	labels []int32   // [n]
	x      []float32 // [n * dim]
}

// image holds the features of one image in a file that was read.
type image struct {
	id     string // for messages
	label  int
	values *tensor
}

// read reads the planned files one at a time, passes each to next and completes the report.
func (p *plan) read(ctx context.Context, next func(batch) error) error {
	r := p.report
	sum := sha256.New()
	fmt.Fprintf(sum, "clear/1 %s\n%s\n", r.Type, strings.Join(r.Classes, "\n"))
	r.Images = make([][]int, Classes)
	for class := range r.Images {
		r.Images[class] = make([]int, len(r.Buckets))
	}
	var b batch
	var buffer bytes.Buffer // one for all files: garbage of 245 MB would double the memory in use
	total := 0
	for _, f := range p.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.readBatch(f, &buffer, &b); err != nil {
			return fmt.Errorf("clear: cannot use %s: %w; get the archive again", p.where(f.name), err)
		}
		if total += len(b.x); total > maxValues {
			return fmt.Errorf("clear: %s has more than %d values, over four times as many as CLEAR-10", p.path, maxValues)
		}
		r.count(b)
		b.hash(sum)
		if err := next(b); err != nil {
			return err
		}
	}
	r.Dim, r.SHA256 = b.dim, hex.EncodeToString(sum.Sum(nil))
	return nil
}

// readBatch reads one file into b. It reuses the memory of buffer and b.
func (p *plan) readBatch(f file, buffer *bytes.Buffer, b *batch) error {
	raw, err := p.readFile(buffer, f.name, maxFile)
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
	if b.dim == 0 {
		b.dim = images[0].values.Len()
	}
	b.bucket, b.labels, b.x = f.bucket, b.labels[:0], b.x[:0]
	// Many images may refer to the same tensor: refuse more values than the file can hold.
	if len(images) > len(raw)/2/b.dim {
		return fmt.Errorf("it has %d images of %d values, more than its %d bytes can hold", len(images), b.dim, len(raw))
	}
	for _, im := range images {
		if err := b.add(im); err != nil {
			return err
		}
	}
	return nil
}

// ofClass returns the images of {id: tensor[dim]}.
func ofClass(value any, label int) ([]image, error) {
	dict, ok := value.(*pyDict)
	if !ok || len(dict.Keys) == 0 {
		return nil, fmt.Errorf("it should be a dict of images, but is: %s", describe(value))
	}
	images := make([]image, len(dict.Keys))
	for i, v := range dict.Values {
		id := fmt.Sprintf("%.40q", fmt.Sprint(dict.Keys[i]))
		t, ok := v.(*tensor)
		if !ok || len(t.Shape) != 1 {
			return nil, fmt.Errorf("its image %s should be a vector, but is: %s", id, describe(v))
		}
		images[i] = image{id, label, t}
	}
	return images, nil
}

// ofBucket returns the images of (tensor[n, dim], [label, ...]), sorted by class and without
// BACKGROUND. A label is the number of a line of class_names.txt, from 0.
func (p *plan) ofBucket(value any) ([]image, error) {
	pair, _ := value.(pyTuple)
	if len(pair) != 2 {
		return nil, fmt.Errorf("it should be a tensor and its labels, but is: %s", describe(value))
	}
	t, ok1 := pair[0].(*tensor)
	list, ok2 := pair[1].(*pyList)
	if !ok1 || !ok2 || len(t.Shape) != 2 || t.Shape[0] != len(list.Items) {
		return nil, fmt.Errorf("it should be a matrix and a label for each row, but is: %s, %s",
			describe(pair[0]), describe(pair[1]))
	}
	byName := map[string][]image{}
	for i, v := range list.Items {
		label, ok := v.(int64)
		if !ok || label < 0 || label >= int64(len(p.names)) {
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

// describe returns the type of a value, for messages: tensor with sizes [300 2048].
func describe(v any) string {
	switch v := v.(type) {
	case *tensor:
		return fmt.Sprintf("tensor with sizes %d", v.Shape)
	case *pyDict:
		return fmt.Sprintf("dict of %d", len(v.Keys))
	case *pyList:
		return fmt.Sprintf("list of %d", len(v.Items))
	case pyTuple:
		return fmt.Sprintf("tuple of %d", len(v))
	}
	return typeName(v)
}

// add appends the label and the values of an image.
func (b *batch) add(im image) error {
	if n := im.values.Len(); n != b.dim {
		return fmt.Errorf("its image %s has %d values, others have %d", im.id, n, b.dim)
	}
	start := len(b.x)
	b.x = im.values.AppendFloat32(b.x)
	for i, v := range b.x[start:] {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("its image %s has the value %g at %d", im.id, v, i)
		}
	}
	b.labels = append(b.labels, int32(im.label))
	return nil
}

// hash writes bucket, label and values of each image to sum.
func (b *batch) hash(sum hash.Hash) {
	row := make([]byte, 8+4*b.dim)
	for i, label := range b.labels {
		binary.LittleEndian.PutUint32(row, uint32(b.bucket))
		binary.LittleEndian.PutUint32(row[4:], uint32(label))
		for j, v := range b.x[i*b.dim : (i+1)*b.dim] {
			binary.LittleEndian.PutUint32(row[8+4*j:], math.Float32bits(v))
		}
		sum.Write(row)
	}
}
