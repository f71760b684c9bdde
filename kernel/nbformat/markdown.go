package nbformat

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown is Jupyter's dialect of Markdown: GitHub's, with HTML, and with formulas between dollar signs.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(
		parser.WithAutoHeadingID(),
		parser.WithInlineParsers(util.Prioritized(formulaParser{}, 150)),
	),
	goldmark.WithRendererOptions(renderer.WithUnsafe()),
)

// markdownToHTML renders Markdown. It embeds pictures: attachments, and files below dir, the notebook's folder.
func markdownToHTML(source string, attachments map[string]MIMEBundle, dir string) (string, error) {
	content := []byte(source)
	document := markdown.Parser().Parse(text.NewReader(content))
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			if uri := embed(string(image.Destination), attachments, dir); uri != "" {
				image.Destination = []byte(uri)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, content, document); err != nil {
		return "", err
	}
	return b.String(), nil
}

// embed returns a picture as a data URI; empty if it is neither an attachment nor a file below dir. A symbolic link
// out of dir is not followed: a page must not contain files that the notebook's author cannot read.
func embed(destination string, attachments map[string]MIMEBundle, dir string) string {
	name, err := url.PathUnescape(destination)
	if err != nil {
		return ""
	}
	if attached, ok := strings.CutPrefix(name, "attachment:"); ok {
		for kind := range attachments[attached] {
			if content, ok := attachments[attached].Text(kind); ok {
				return dataURI(kind, content)
			}
		}
		return ""
	}
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return ""
	}
	defer root.Close()
	data, err := root.ReadFile(name)
	if err != nil {
		return ""
	}
	kind := mime.TypeByExtension(filepath.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	return encode(kind, data)
}

func encode(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// dataURI makes a data URI of a picture in a MIME bundle. SVG pictures are text, others are base64.
func dataURI(kind, content string) string {
	if kind == "image/svg+xml" {
		return encode(kind, []byte(content))
	}
	return "data:" + kind + ";base64," + strings.Join(strings.Fields(content), "")
}

// formulaParser protects formulas from Markdown, which would treat underscores as emphasis. The page shows formulas
// as they were typed: it has no typesetting.
type formulaParser struct{}

// Trigger returns the first character of a formula.
func (formulaParser) Trigger() []byte { return []byte{'$'} }

// Parse parses a formula, $...$ or $$...$$, which may span several lines. As in Jupyter, a single dollar sign is not
// a formula's if a space follows the opening one, or if a space comes before or a digit after the closing one.
func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	row, segment := block.Position()
	line, _ := block.PeekLine()
	mark := line[:1]
	if bytes.HasPrefix(line, []byte("$$")) {
		mark = line[:2]
	}
	mark = bytes.Clone(mark)
	block.Advance(len(mark))
	var formula []byte
	for {
		line, _ := block.PeekLine()
		if line == nil {
			block.SetPosition(row, segment)
			return nil
		}
		if end := closing(line, mark); end >= 0 {
			formula = append(formula, line[:end]...)
			after := line[end+len(mark):]
			block.Advance(end + len(mark))
			if len(mark) == 1 && !isFormula(formula, after) {
				block.SetPosition(row, segment)
				return nil
			}
			return formulaNode(string(formula), len(mark) == 2)
		}
		formula = append(formula, line...)
		block.AdvanceLine()
	}
}

// closing is the index of the closing mark in a line, ignoring escaped characters; -1 if there is none.
func closing(line, mark []byte) int {
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if bytes.HasPrefix(line[i:], mark) {
			return i
		}
	}
	return -1
}

func isFormula(formula, after []byte) bool {
	if len(formula) == 0 || len(bytes.TrimSpace(formula)) != len(formula) {
		return false
	}
	return len(after) == 0 || after[0] < '0' || after[0] > '9'
}

func formulaNode(formula string, display bool) ast.Node {
	class := "formula"
	if display {
		class = "formula display"
	}
	text := html.EscapeString(strings.TrimSpace(formula))
	node := ast.NewString(fmt.Appendf(nil, `<code class="%s">%s</code>`, class, text))
	node.SetCode(true) // the renderer writes it unchanged
	return node
}
