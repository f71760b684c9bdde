package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// protocolVersion is the version of Jupyter's messaging protocol that this package uses.
const protocolVersion = "5.3"

// delimiter separates the ZeroMQ identities from the message itself.
var delimiter = []byte("<IDS|MSG>")

var errSignature = errors.New("wrong signature")

// header is the first part of a message. The parent header of a message is the header of the request that caused it.
type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// message is one received message, without its metadata and the binary data of widgets, which are not used.
type message struct {
	header  header
	parent  header
	content json.RawMessage
}

// session encodes and decodes the messages of one client.
type session struct {
	id  string
	key []byte
}

func (s session) newHeader(msgType string) header {
	return header{
		ID:       uuid.NewString(),
		Session:  s.id,
		Username: "tvps",
		Date:     time.Now().UTC().Format(time.RFC3339Nano),
		Type:     msgType,
		Version:  protocolVersion,
	}
}

// sign returns the hexadecimal HMAC-SHA256 of the four parts of a message. Without a key messages are not signed.
func (s session) sign(parts [][]byte) []byte {
	if len(s.key) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, s.key)
	for _, part := range parts {
		mac.Write(part)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// encode returns the frames of a message: delimiter, signature, header, parent header,
// metadata, content. Requests have no parent. The content must be a value that JSON has.
func (s session) encode(h header, parent *header, content any) [][]byte {
	values := []any{h, struct{}{}, struct{}{}, content}
	if parent != nil {
		values[1] = parent
	}
	parts := make([][]byte, len(values))
	for i, value := range values {
		parts[i], _ = json.Marshal(value)
	}
	return append([][]byte{delimiter, s.sign(parts)}, parts...)
}

// decode checks the signature of a message and decodes it. Frames before the delimiter are ZeroMQ's identities or
// topics, frames after the content are binary buffers.
func (s session) decode(frames [][]byte) (message, error) {
	frames = frames[len(routing(frames)):]
	if len(frames) < 6 {
		return message{}, errors.New("malformed message: too few parts")
	}
	parts := frames[2:6]
	if !hmac.Equal(frames[1], s.sign(parts)) {
		return message{}, errSignature
	}
	m := message{content: parts[3]}
	if err := json.Unmarshal(parts[0], &m.header); err != nil {
		return message{}, fmt.Errorf("malformed message: header: %w", err)
	}
	if err := json.Unmarshal(parts[1], &m.parent); err != nil {
		return message{}, fmt.Errorf("malformed message: parent header: %w", err)
	}
	return m, nil
}

// routing returns the frames before the delimiter.
func routing(frames [][]byte) [][]byte {
	for i, frame := range frames {
		if bytes.Equal(frame, delimiter) {
			return frames[:i]
		}
	}
	return frames
}
