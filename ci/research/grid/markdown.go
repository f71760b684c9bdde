package grid

import "strings"

// Markdown is a table whose first row is its head. Cells are Markdown themselves.
func Markdown(rows [][]string) string {
	var b strings.Builder
	for i, cells := range rows {
		b.WriteString(strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |\n", "  |", " |")) // no two spaces for an empty cell
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	return b.String()
}
