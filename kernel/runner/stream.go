package runner

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// budget is how much text of one stream of a cell is kept, over all outputs that the stream
// is cut into by others.
type budget struct {
	limit, used int
	left        int // bytes left out
}

// outputCost is what an output costs beside its text.
const outputCost = 64

// stream is a piece of a stream as a terminal shows it: behind a carriage return a line
// starts anew, so that a progress bar leaves its last state. Beyond the budget text is
// counted and not kept.
type stream struct {
	*budget
	lines   strings.Builder // those that are finished
	line    []byte          // the last one
	restart bool            // a carriage return was the last that came
	note    bool            // here the budget was used up
}

// write adds a text.
func (s *stream) write(text string) {
	for text != "" && s.left == 0 {
		end := strings.IndexAny(text, "\r\n")
		if end != 0 {
			piece := text
			if end > 0 {
				piece = text[:end]
			}
			text = text[len(piece):]
			s.append(piece)
			continue
		}
		if text[0] == '\n' {
			s.lines.Write(s.line)
			s.lines.WriteByte('\n')
			s.line = s.line[:0]
			s.used++
		}
		s.restart = text[0] == '\r'
		text = text[1:]
	}
	s.left += len(text)
}

// append adds text without ends of lines.
func (s *stream) append(piece string) {
	if s.restart {
		s.used -= len(s.line)
		s.line, s.restart = s.line[:0], false
	}
	if space := max(0, s.limit-s.used); space < len(piece) {
		for space > 0 && !utf8.RuneStart(piece[space]) {
			space--
		}
		s.left += len(piece) - space
		s.note = true
		piece = piece[:space]
	}
	s.used += len(piece)
	s.line = append(s.line, piece...)
}

// text is what is kept, with a note of what is not.
func (s *stream) text() string {
	text := s.lines.String() + string(s.line)
	if !s.note {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[%d more bytes were left out here: the limit is %d for a stream of a cell]\n", s.left, s.limit)
}
