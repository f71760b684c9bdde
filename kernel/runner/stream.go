package runner

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// budget limits the text that is kept of one stream of a cell. All outputs of the stream share it: outputs of
// other kinds in between cut the stream into several.
type budget struct {
	limit, used int
	left        int // bytes left out
}

// outputCost is charged to the budget for each output, in addition to its text.
const outputCost = 64

// stream collects text as a terminal shows it: text after a carriage return overwrites the line, so a progress bar
// leaves only its last state. Text beyond the budget is counted but not kept.
type stream struct {
	*budget
	lines   strings.Builder // the finished lines
	line    []byte          // the last, unfinished line
	restart bool            // the last character was a carriage return
	note    bool            // the budget ran out in this stream
}

// write adds text.
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

// append adds text without line breaks.
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

// text is the kept text, with a note if some was left out.
func (s *stream) text() string {
	text := s.lines.String() + string(s.line)
	if !s.note {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[%d more bytes were left out here: the limit is %d per stream of a cell]\n",
		s.left, s.limit)
}
