package jupyter

import (
	"encoding/json"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// answers are the requests that Relay answers, because GoNB does not.
var answers = map[string]func(r *relay, m message) (msgType string, content any){
	"is_complete_request": func(_ *relay, m message) (string, any) {
		var c struct{ Code string }
		_ = json.Unmarshal(m.content, &c) // missing fields stay empty, also below
		return "is_complete_reply", isComplete(c.Code)
	},
	"history_request": func(r *relay, m message) (string, any) { return "history_reply", r.history.find(m.content) },
}

// completeReply is the content of is_complete_reply.
type completeReply struct {
	Status string `json:"status"` // complete, incomplete or invalid
	Indent string `json:"indent"` // of the next line, if the code is incomplete
}

// isComplete says whether a console should run a cell of Go or ask for another line. Code is incomplete if a bracket
// or comment is open, or its last line cannot end a statement. A cell with a line %%, or with a command such as
// %%bash, is incomplete until its last line is blank, because all lines after that one belong to it.
func isComplete(code string) completeReply {
	lines := strings.Split(code, "\n")
	text, block, open := "", false, false
	for _, line := range lines {
		command := strings.TrimPrefix(line, "//gonb:")
		first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
		switch {
		case text == "" && strings.HasPrefix(first, "%%") && first != "%%":
			return untilBlank(lines) // not Go
		case strings.HasPrefix(first, "%") || strings.HasPrefix(command, "!"):
			block = block || first == "%%" || first == "%main"
			open = strings.HasSuffix(line, "\\")
		default:
			open = false
			text += line + "\n"
		}
	}
	depth, unfinished, invalid := brackets(text)
	switch {
	case invalid:
		return completeReply{Status: "invalid"}
	case depth > 0 || unfinished || open:
		return completeReply{"incomplete", strings.Repeat("\t", depth)}
	case block:
		return untilBlank(lines)
	}
	return completeReply{Status: "complete"}
}

// untilBlank is the answer for a cell that ends with a blank line.
func untilBlank(lines []string) completeReply {
	if len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		return completeReply{Status: "complete"}
	}
	return completeReply{Status: "incomplete"}
}

// brackets counts the open brackets of Go code. unfinished says that a comment or raw string is open, or that the last
// token cannot end a statement; invalid that no further line can make it valid.
func brackets(code string) (depth int, unfinished, invalid bool) {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", -1, len(code)), []byte(code), func(_ token.Position, message string) {
		switch message {
		case "comment not terminated", "raw string literal not terminated":
			unfinished = true
		default:
			invalid = true
		}
	}, 0)
	closers := map[token.Token]token.Token{
		token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE,
	}
	var stack []token.Token
	last := token.SEMICOLON
	for {
		_, tok, _ := s.Scan()
		if tok == token.EOF {
			break
		}
		last = tok
		if closer, ok := closers[tok]; ok {
			stack = append(stack, closer)
		}
		if tok == token.RPAREN || tok == token.RBRACK || tok == token.RBRACE {
			if len(stack) == 0 || stack[len(stack)-1] != tok {
				return 0, false, true
			}
			stack = stack[:len(stack)-1]
		}
	}
	// The scanner ends each line that can end a statement with a semicolon.
	return len(stack), unfinished || last != token.SEMICOLON, invalid
}

// historyLimit is the number of cells that history keeps.
const historyLimit = 1000

// history keeps the cells that clients ran in this session of the kernel.
type history struct {
	mu    sync.Mutex
	count int // the kernel's execution count
	cells []pastCell
}

// pastCell is a cell that was run.
type pastCell struct {
	number int
	source string
}

// add keeps the code of an execute_request that counts. Other messages are ignored.
func (h *history) add(m message) {
	c := struct {
		Code         string `json:"code"`
		Silent       bool   `json:"silent"`
		StoreHistory bool   `json:"store_history"`
	}{StoreHistory: true}
	if m.header.Type != "execute_request" || json.Unmarshal(m.content, &c) != nil || !c.StoreHistory || c.Silent {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	h.cells = append(h.cells, pastCell{h.count, c.Code})
	if extra := len(h.cells) - historyLimit; extra > 0 {
		h.cells = slices.Delete(h.cells, 0, extra)
	}
}

// historyReply is the content of history_reply. An entry is the session, the cell's number and its source, or if
// outputs were requested the pair of source and output. There are no outputs.
type historyReply struct {
	Status  string   `json:"status"`
	History [][3]any `json:"history"`
}

// find answers a history_request: the last n cells, a range of numbers, or the cells that match a pattern. The only
// session is the current one, 0.
func (h *history) find(content json.RawMessage) historyReply {
	var c struct {
		Output  bool   `json:"output"`
		Type    string `json:"hist_access_type"`
		Session int    `json:"session"`
		Start   int    `json:"start"`
		Stop    *int   `json:"stop"`
		N       *int   `json:"n"`
		Pattern string `json:"pattern"`
		Unique  bool   `json:"unique"`
	}
	_ = json.Unmarshal(content, &c)
	h.mu.Lock()
	defer h.mu.Unlock()
	var matches func(pastCell) bool
	switch pattern := glob(c.Pattern); c.Type {
	case "range":
		matches = func(p pastCell) bool {
			return c.Session == 0 && p.number >= c.Start && (c.Stop == nil || p.number < *c.Stop)
		}
	case "search":
		matches = func(p pastCell) bool { return pattern.MatchString(p.source) }
	default:
		matches = func(pastCell) bool { return true }
	}
	reply := historyReply{"ok", [][3]any{}}
	seen := map[string]bool{}
	for _, p := range slices.Backward(h.cells) {
		full := c.Type != "range" && c.N != nil && len(reply.History) >= *c.N
		if full || !matches(p) || c.Unique && seen[p.source] {
			continue
		}
		seen[p.source] = true
		var entry any = p.source
		if c.Output {
			entry = [2]any{p.source, nil}
		}
		reply.History = append(reply.History, [3]any{0, p.number, entry})
	}
	slices.Reverse(reply.History)
	return reply
}

// glob compiles a pattern in which * stands for any text and ? for a character.
func glob(pattern string) *regexp.Regexp {
	text := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile(`(?s)^` + text + `$`)
}
