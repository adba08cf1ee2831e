package cli

import (
	"strings"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// table is rows under a head, in columns as wide as their widest cell.
type table struct {
	head  []string
	right []bool // columns that stand to the right
	rows  [][]string
}

// columns makes a table; a name that begins with > stands to the right.
func columns(names ...string) *table {
	t := &table{right: make([]bool, len(names))}
	for i, n := range names {
		name, right := strings.CutPrefix(n, ">")
		t.head, t.right[i] = append(t.head, name), right
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

const (
	columnGap = 2
	// wrappedMin is the least room in which text is worth wrapping: some three words.
	wrappedMin = 20
)

// columns is how wide the terminal is; 0 where nothing bounds a line.
func (p *printer) columns() int {
	if p.screen == nil {
		return 0
	}
	if p.asked > 0 {
		return p.asked
	}
	width, _, err := term.GetSize(int(p.screen.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// text writes sentences, broken between words where a terminal is narrower; in a pipe a
// line bounds nothing.
func (p *printer) text(sentences string) { p.hanging("", sentences) }

// hanging writes text of which every line after the first begins below the first, indented.
func (p *printer) hanging(indent, text string) {
	lines := []string{text}
	if width := p.columns(); width > 0 {
		lines = strings.Split(lipgloss.Wrap(text, max(width-lipgloss.Width(indent), wrappedMin), ""), "\n")
	}
	for _, line := range lines {
		p.line(indent, strings.TrimRight(line, " "))
	}
}

// table writes a table. What is too wide for the terminal is never cut, since half a
// figure is a wrong one: text in the last column goes on below itself, and where that
// does not help each row is written as fields.
func (p *printer) table(t *table, indent string) { p.tableWithin(t, indent, p.columns()) }

func (p *printer) tableWithin(t *table, indent string, width int) {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	last := len(widths) - 1
	before := lipgloss.Width(indent)
	for _, w := range widths[:last] {
		before += w + columnGap
	}
	room := 0 // of the last column; 0: as much as it needs
	if width > 0 && before+widths[last] > width {
		room = width - before
		if t.right[last] || room < wrappedMin {
			p.stacked(t, indent)
			return
		}
	}
	write := func(row []string, paint func(string) string) {
		cells := append([]string(nil), row...)
		more := []string{}
		if room > 0 && lipgloss.Width(cells[last]) > room {
			lines := strings.Split(lipgloss.Wrap(cells[last], room, ""), "\n")
			cells[last], more = lines[0], lines[1:]
		}
		p.line(indent, strings.TrimRight(t.cells(cells, widths, paint), " "))
		for _, line := range more {
			p.line(strings.Repeat(" ", before), strings.TrimRight(paint(line), " "))
		}
	}
	write(t.head, p.dim)
	for _, row := range t.rows {
		write(row, func(s string) string { return s })
	}
}

// cells is one row, each cell padded to its column.
func (t *table) cells(row []string, widths []int, paint func(string) string) string {
	var b strings.Builder
	for i, cell := range row {
		gap := strings.Repeat(" ", max(0, widths[i]-lipgloss.Width(cell)))
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		if t.right[i] {
			b.WriteString(gap + paint(cell))
		} else {
			b.WriteString(paint(cell) + gap)
		}
	}
	return b.String()
}

// stacked writes each row as a block of named fields. An empty cell says nothing.
func (p *printer) stacked(t *table, indent string) {
	names := 0
	for _, name := range t.head {
		names = max(names, lipgloss.Width(name))
	}
	for i, row := range t.rows {
		if i > 0 {
			p.line("")
		}
		for j, cell := range row {
			if cell != "" {
				name := t.head[j] + strings.Repeat(" ", names-lipgloss.Width(t.head[j])+columnGap)
				p.line(indent, p.dim(name), cell)
			}
		}
	}
}
