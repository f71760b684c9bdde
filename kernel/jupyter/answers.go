package jupyter

import (
	"encoding/json"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// answers are the requests that Relay answers, because GoNB does not, or not yet. nil is none: GoNB answers.
var answers = map[string]func(r *relay, m message) (content any){
	"is_complete_request": func(_ *relay, m message) any { return isComplete(cursorAt(m).Code) },
	"history_request":     func(*relay, message) any { return map[string]any{"status": "ok", "history": []any{}} },
	"comm_info_request":   func(*relay, message) any { return map[string]any{"status": "ok", "comms": struct{}{}} },
	"interrupt_request": func(r *relay, _ message) any {
		r.interrupt()
		return map[string]any{"status": "ok"}
	},
	"inspect_request": func(r *relay, m message) any {
		if at := cursorAt(m); r.explains.Load() && names(inUnits(at.Code, at.Pos), at.Pos) {
			return nil
		}
		return notFound
	},
	"complete_request": func(r *relay, m message) any {
		if r.explains.Load() {
			return nil
		}
		pos := cursorAt(m).Pos
		return map[string]any{"status": "ok", "matches": []string{}, "cursor_start": pos, "cursor_end": pos,
			"metadata": struct{}{}}
	},
}

// notFound is the content of inspect_reply where there is nothing to explain.
var notFound = map[string]any{"status": "ok", "found": false, "data": struct{}{}, "metadata": struct{}{}}

// cursor is the content of the requests about code.
type cursor struct {
	Code string `json:"code"`
	Pos  int    `json:"cursor_pos"`
}

func cursorAt(m message) (c cursor) {
	_ = json.Unmarshal(m.content, &c) // missing fields stay empty, also below
	return c
}

// inUnits is code in which GoNB and gopls find the cursor. It is a number of characters, which GoNB takes for one of
// UTF-16's units, and gopls gets the bytes of the line before it. So a letter takes the place of each character before
// the cursor that has two units, and of others that have several bytes in the cursor's line. The name at the cursor
// stays.
func inUnits(code string, pos int) string {
	runes := []rune(code)
	name, line := true, true
	for i := min(pos, len(runes)) - 1; i >= 0; i-- {
		r := runes[i]
		name = name && (r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r))
		line = line && r != '\n'
		if r > 0xFFFF || line && !name && r > unicode.MaxASCII {
			runes[i] = 'x'
		}
	}
	return string(runes)
}

// names says whether GoNB finds a name to explain. It walks back from the cursor, in UTF-16, over blanks and brackets,
// and before a comma or a closing bracket to the opening one. It does not notice the begin of the cell: there it runs
// on for ever.
func names(code string, pos int) bool {
	units := utf16.Encode([]rune(code))
	pos = min(max(pos, 0), len(units))
	text := func(n int) string { return string(utf16.Decode(units[:min(n, len(units))])) }
	for _, at := range commands.FindAllStringIndex(code, -1) {
		if n := len(text(pos)); at[0] <= n && n <= at[1] {
			return true // GoNB shows its help
		}
	}
	inside := false
	for _, r := range slices.Backward([]rune(commands.ReplaceAllString(text(pos+1), ""))) {
		switch {
		case inside:
			inside = r != '(' && r != '{'
		case r == ',' || r == ')':
			inside = true
		case !strings.ContainsRune(" \t\r\n(){}[]\"`'", r):
			return true
		}
	}
	return false
}

// commands matches the commands of GoNB in a cell, with the lines that a backslash continues.
var commands = regexp.MustCompile(`(?m)^(?://gonb:)?[%!](?:.*\\\n)*.+$`)

type completeReply struct {
	Status string `json:"status"` // complete, incomplete or invalid
	Indent string `json:"indent"` // of the next line, if the code is incomplete
}

// isComplete says whether a console should run a cell of Go or ask for another line. Code is incomplete if a bracket
// or comment is open, or its last line cannot end a statement. A cell with a line %%, or with a command such as
// %%bash, is incomplete until its last line is blank, because all lines after that one belong to it.
func isComplete(code string) completeReply {
	depth, unfinished, invalid := brackets(goLines(code) + "\n")
	last := code[strings.LastIndex(code, "\n")+1:]
	switch {
	case notGo.MatchString(code):
		if strings.TrimSpace(last) != "" {
			return completeReply{Status: "incomplete"}
		}
	case invalid:
		return completeReply{Status: "invalid"}
	case depth > 0 || unfinished || strings.HasSuffix(last, "\\"):
		return completeReply{"incomplete", strings.Repeat("\t", depth)}
	case mainLine.MatchString(code) && strings.TrimSpace(last) != "":
		return completeReply{Status: "incomplete"}
	}
	return completeReply{Status: "complete"}
}

// goLines is a cell in which the lines of GoNB's commands are empty.
func goLines(code string) string {
	return commands.ReplaceAllStringFunc(code, func(command string) string {
		return strings.Repeat("\n", strings.Count(command, "\n"))
	})
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
