package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A finished run is a file of JSON lines in two zstd frames, one after the
// other (`zstd -dc` prints both):
//
//	frame 1  {"format":1,"spec":...,"provenance":...}   differs from machine to machine
//	frame 2  {"spec":...,"steps":[...]}                 the same bytes, however often the
//	         {"t":0,"metric":"accuracy","value":0.5}    run was interrupted
//	         ...
//	         {"rows":N,"sha256":"..."}                  of all lines of frame 2 above it
//
// The checksum and zstd's own make truncation and flipped bits visible.
const format = 1

type headerLine struct {
	Format     int        `json:"format"`
	Spec       Spec       `json:"spec"`
	Provenance Provenance `json:"provenance"`
}

type contentLine struct {
	Spec  Spec  `json:"spec"`
	Steps []int `json:"steps"`
}

type endLine struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

// codec returns the shared encoder and decoder; several goroutines may use both at once.
var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("runs: zstd encoder: %v", err))
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxFile))
	if err != nil {
		panic(fmt.Sprintf("runs: zstd decoder: %v", err))
	}
	return encoder, decoder
})

// jsonLine returns v as one line of JSON. It panics if v does not encode.
func jsonLine(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("runs: %T did not encode: %v", v, err))
	}
	return append(text, '\n')
}

// encodeResult returns the bytes of the file of a finished run.
func encodeResult(result *Result) []byte {
	spec := result.Spec
	if spec.Settings == nil {
		spec.Settings = map[string]string{}
	}
	var content bytes.Buffer
	content.Write(jsonLine(contentLine{Spec: spec, Steps: result.Steps}))
	for _, row := range result.Rows {
		content.Write(jsonLine(row))
	}
	content.Write(jsonLine(endLine{Rows: len(result.Rows), SHA256: digest(content.Bytes())}))

	encoder, _ := codec()
	file := encoder.EncodeAll(jsonLine(headerLine{Format: format, Spec: spec, Provenance: result.Provenance}), nil)
	return encoder.EncodeAll(content.Bytes(), file)
}

// decodeResult reads and checks the bytes of a finished run's file. Its error says what is wrong.
func decodeResult(file []byte) (*Result, error) {
	_, decoder := codec()
	text, err := decoder.DecodeAll(file, nil)
	if err != nil {
		return nil, fmt.Errorf("it does not decompress: %w", err)
	}
	head, content, found := bytes.Cut(text, []byte("\n"))
	var header headerLine
	if err := json.Unmarshal(head, &header); err != nil || !found {
		return nil, errors.New("its first line is not a run's provenance")
	}
	if header.Format > format {
		return nil, newerError(header.Format)
	}
	if header.Format != format {
		return nil, fmt.Errorf("it has format %d, this program reads format %d", header.Format, format)
	}
	result, err := decodeContent(content)
	if err != nil {
		return nil, err
	}
	if result.Spec.ID() != header.Spec.ID() {
		return nil, errors.New("its two parts belong to different runs")
	}
	result.Provenance = header.Provenance
	return result, nil
}

// decodeContent reads the lines of the second frame.
func decodeContent(content []byte) (*Result, error) {
	if len(content) == 0 || content[len(content)-1] != '\n' {
		return nil, errors.New("its rows are cut off")
	}
	last := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	var end endLine
	if err := json.Unmarshal(content[last:], &end); err != nil || end.SHA256 == "" {
		return nil, errors.New("its rows are cut off: the line with their checksum is missing")
	}
	if end.SHA256 != digest(content[:last]) {
		return nil, errors.New("its rows do not match their checksum")
	}
	line, rest, _ := bytes.Cut(content[:last], []byte("\n"))
	var first contentLine
	if err := json.Unmarshal(line, &first); err != nil {
		return nil, fmt.Errorf("its spec cannot be read: %w", err)
	}
	result := &Result{Spec: first.Spec, Steps: first.Steps}
	for line := range bytes.Lines(rest) {
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("its row %d cannot be read: %w", len(result.Rows)+1, err)
		}
		result.Rows = append(result.Rows, row)
	}
	if len(result.Rows) != end.Rows {
		return nil, fmt.Errorf("it holds %d rows instead of %d", len(result.Rows), end.Rows)
	}
	return result, nil
}

// finishedSpec reads the spec of a finished run from the first line of its file alone.
func finishedSpec(file io.Reader) (Spec, error) {
	decoder, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxLine))
	if err != nil {
		return Spec{}, err
	}
	defer decoder.Close()
	return firstSpec(decoder)
}

// digest returns the SHA-256 of data in hexadecimal.
func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// Result is a finished run.
type Result struct {
	Spec       Spec
	Provenance Provenance
	Steps      []int // the steps it holds, ascending
	Rows       []Row // by ascending step; within a step in the order in which it reported them
}

// has tells whether the result holds every one of steps.
func (r *Result) has(steps []int) bool {
	return !slices.ContainsFunc(steps, func(t int) bool { return !slices.Contains(r.Steps, t) })
}

// Only returns the result with the rows of the given steps alone, so that a figure does not depend on which other steps
// are stored.
func (r *Result) Only(steps []int) *Result {
	part := &Result{Spec: r.Spec, Provenance: r.Provenance}
	for _, t := range r.Steps {
		if slices.Contains(steps, t) {
			part.Steps = append(part.Steps, t)
		}
	}
	for _, row := range r.Rows {
		if slices.Contains(steps, row.T) {
			part.Rows = append(part.Rows, row)
		}
	}
	return part
}

// byStep returns the rows of each step that the result holds. A step may have none.
func (r *Result) byStep() map[int][]Row {
	rows := make(map[int][]Row, len(r.Steps))
	for _, t := range r.Steps {
		rows[t] = nil
	}
	for _, row := range r.Rows {
		rows[row.T] = append(rows[row.T], row)
	}
	return rows
}
