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
	"regexp"
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

// formulaParser protects formulas from Markdown, which would treat underscores as emphasis. The page's script replaces
// them by MathML.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$'} }

// formulaClass is the class of an element with a formula as it was typed.
const formulaClass = "formula"

// formulas matches a formula at the beginning of a text, with two dollar signs or one.
var formulas = regexp.MustCompile(`(?s)^(?:\$\$((?:\\.|[^\\])*?)\$\$|\$((?:\\.|[^\\$])+)\$)`)

// Parse parses a formula, $...$ or $$...$$, which may span several lines. As in Jupyter, a single dollar sign is not
// a formula's if a space follows the opening one, or if a space comes before or a digit after the closing one.
func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	row, segment := block.Position()
	var read []byte
	for line, _ := block.PeekLine(); line != nil; line, _ = block.PeekLine() {
		before := len(read)
		read = append(read, line...)
		m := formulas.FindSubmatch(read)
		if m == nil {
			block.AdvanceLine()
			continue
		}
		after := read[len(m[0]):]
		if m[1] != nil || len(bytes.TrimSpace(m[2])) == len(m[2]) && (len(after) == 0 || after[0] < '0' || after[0] > '9') {
			block.Advance(len(m[0]) - before)
			class := formulaClass
			if m[1] != nil {
				class += " display"
			}
			text := html.EscapeString(strings.TrimSpace(string(m[1]) + string(m[2])))
			node := ast.NewString(fmt.Appendf(nil, `<code class="%s">%s</code>`, class, text))
			node.SetCode(true) // the renderer writes it unchanged
			return node
		}
		break
	}
	block.SetPosition(row, segment)
	return nil
}
