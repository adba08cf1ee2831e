package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Page is one page. Texts are escaped.
type Page struct {
	Title   string
	Lead    string
	Verdict string // a few words
	Good    bool   // of the verdict; said by a word and a sign, and not by colour alone
	Neutral bool   // the verdict only tells: it is neither good nor bad
	Stats   []Stat
	Parts   []Part
	Foot    string
}

// Stat is one figure with its name.
type Stat struct{ Name, Value, Note string }

// Part is one section; what is nil or empty is left out.
type Part struct {
	Title  string
	Note   string
	Curves []Curve
	Bars   *Bars
	// Regions are maps, each with its key.
	Regions []Regions
	Table   *Table
	Wrap    bool // the table's cells are sentences, which stand to the left and break
	Heat    *Heat
}

// Curve is one figure over time. Values are in the order of time, at equal distances.
type Curve struct {
	Name   string
	Values []float64
	Cap    float64 // drawn as a line; not a number: none
	CapAt  string  // the cap as text
	Peak   string  // what stands beside the name
	Low    float64 // the bottom of the picture
	High   float64 // the top; the cap's line needs room below it
	Tops   [3]string
	Breaks []Break // where trade dates begin
	// Second is drawn dashed over the curve, at the same places; nil is none. SecondName
	// says what it is.
	Second     []float64
	SecondName string
}

// Bars are pairs of counts side by side.
type Bars struct {
	First, Second string // what the two of a pair are
	Rows          []BarRow
}

// BarRow is one pair.
type BarRow struct {
	Name          string
	First, Second int // not negative
}

// Break is a labelled place on the time axis, as an index of Values.
type Break struct {
	At    int
	Label string
}

// datesMax bounds the labels on a time axis to what a phone has room for.
const datesMax = 8

// Breaks returns where dates such as 2026-03-18 begin, of values of which each has its
// own, labelled without the year, for as many as there is room.
func Breaks(dates []string) []Break {
	var all, out []Break
	for i, date := range dates {
		if i == 0 || date != dates[i-1] {
			_, label, _ := strings.Cut(date, "-")
			all = append(all, Break{At: i, Label: label})
		}
	}
	every := (len(all) + datesMax - 1) / datesMax
	for i := 0; i < len(all); i += max(1, every) {
		out = append(out, all[i])
	}
	return out
}

// Table is rows under a head. Columns but the first stand to the right.
type Table struct {
	Head []string
	Rows [][]string
	Bad  []int // rows that stand out
}

// Heat is counts by row and column, shaded by size.
type Heat struct {
	Corner string
	Cols   []string
	Rows   []HeatRow
}

// HeatRow is one row of counts with its sum.
type HeatRow struct {
	Name  string
	Sum   int
	Cells []int
}

// picture is the size of a curve's own coordinates; the page stretches them.
const (
	pictureWidth  = 1000
	pictureHeight = 200
)

// HTML writes the page.
func (p *Page) HTML() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"line": line, "area": area, "capY": capY, "shade": shade, "left": left, "bad": bad, "second": second, "wide": wide,
		"room": room, "digits": digits, "head": head,
		"thin":   func(i int) bool { return i%2 == 1 },
		"blocks": blocks, "labels": labels, "view": view, "swatch": swatch, "xAt": xAt, "yAt": yAt,
	}).Parse(layout)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (c *Curve) y(v float64) float64 {
	if c.High <= c.Low {
		return pictureHeight
	}
	y := pictureHeight - (v-c.Low)/(c.High-c.Low)*pictureHeight
	return math.Max(0, math.Min(pictureHeight, y))
}

func (c *Curve) x(i int) float64 {
	return float64(i) * pictureWidth / math.Max(1, float64(len(c.Values)-1))
}

// line is the path of a curve.
func line(c Curve) string { return path(&c, c.Values) }

func second(c Curve) string { return path(&c, c.Second) }

func path(c *Curve, values []float64) string {
	var b strings.Builder
	for i, v := range values {
		step := "L"
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, c.x(i), c.y(v))
	}
	return b.String()
}

// area is the path below a curve.
func area(c Curve) string {
	if len(c.Values) == 0 {
		return ""
	}
	return line(c) + fmt.Sprintf("L%.1f %d L0 %d Z", c.x(len(c.Values)-1), pictureHeight, pictureHeight)
}

// capY is where the cap's line is; empty if there is none.
func capY(c Curve) string {
	if math.IsNaN(c.Cap) || c.Cap > c.High || c.Cap < c.Low {
		return ""
	}
	return fmt.Sprintf("%.1f", c.y(c.Cap))
}

// left is where a break stands, in percent of the width.
func left(c Curve, at int) string { return fmt.Sprintf("%.2f", c.x(at)*100/pictureWidth) }

// shade is a cell's strength, from 0 to 0.85 by the root of its share, so that small
// counts are seen beside large ones.
func shade(h Heat, n int) string {
	most := 1
	for _, r := range h.Rows {
		for _, c := range r.Cells {
			most = max(most, c)
		}
	}
	return fmt.Sprintf("%.2f", 0.85*math.Sqrt(float64(n)/float64(most)))
}

// wide is a bar's share of the longest.
func wide(b Bars, n int) string {
	most := 1
	for _, r := range b.Rows {
		most = max(most, r.First, r.Second)
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(most))
}

// room is the space of the longest figure beside a bar, in characters, with what keeps
// them apart.
func room(b Bars) int {
	longest := 0
	for _, r := range b.Rows {
		longest = max(longest, len(digits(r.First)), len(digits(r.Second)))
	}
	return longest + 2
}

// digits writes a count with commas between thousands.
func digits(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// head is the name of a column, empty where a row is longer than the head.
func head(t Table, column int) string {
	if column < len(t.Head) {
		return t.Head[column]
	}
	return ""
}

func bad(t Table, row int) bool {
	for _, b := range t.Bad {
		if b == row {
			return true
		}
	}
	return false
}
