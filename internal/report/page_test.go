package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
)

func page(t *testing.T, p Page) []byte {
	t.Helper()
	text, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTextsAreTexts: what an agent or a broker wrote runs nowhere.
func TestTextsAreTexts(t *testing.T) {
	evil := `"><script>x()</script>`
	text := page(t, Page{
		Title: evil, Lead: evil, Verdict: evil, Foot: evil, Stats: []Stat{{evil, evil, evil}},
		Parts: []Part{{
			Title: evil, Note: evil, Table: &Table{Head: []string{evil}, Rows: [][]string{{evil}}},
			Bars:   &Bars{First: evil, Second: evil, Rows: []BarRow{{Name: evil, First: 1}}},
			Heat:   &Heat{Corner: evil, Cols: []string{evil}, Rows: []HeatRow{{Name: evil, Cells: []int{1}}}},
			Curves: []Curve{{Name: evil, Peak: evil, CapAt: evil, Values: []float64{1}, Breaks: []Break{{0, evil}}, Second: []float64{1}, SecondName: evil}},
		}},
	})
	if bytes.Contains(text, []byte("<script")) || bytes.Contains(text, []byte(`"">`)) {
		t.Error("a text became markup")
	}
}

func TestCurveStaysInItsPicture(t *testing.T) {
	c := Curve{Values: []float64{-5, 0, 50, 100, 500}, High: 100, Cap: 50}
	if got, want := line(c), "M0.0 200.0L250.0 200.0L500.0 100.0L750.0 0.0L1000.0 0.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := capY(c); got != "100.0" {
		t.Errorf("the cap is drawn at %q", got)
	}
	for _, none := range []float64{math.NaN(), 101, -1} {
		c.Cap = none
		if got := capY(c); got != "" {
			t.Errorf("a cap of %v is drawn at %s", none, got)
		}
	}
}

// TestAnEmptyPageIsAPage: no values, no rows, a curve without height.
func TestAnEmptyPageIsAPage(t *testing.T) {
	text := page(t, Page{Parts: []Part{{Curves: []Curve{{}, {Values: []float64{3}}}, Table: &Table{}, Heat: &Heat{}}}})
	if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("ZgotmplZ")) || !bytes.Contains(text, []byte("</html>")) {
		t.Errorf("%s", text)
	}
}

func TestWhatStandsOutIsMarked(t *testing.T) {
	text := page(t, Page{Verdict: "no", Parts: []Part{{Table: &Table{Rows: [][]string{{"a"}, {"b"}}, Bad: []int{1}}}}})
	if n := bytes.Count(text, []byte(`<tr class="out">`)); n != 1 || !bytes.Contains(text, []byte("✗ no")) {
		t.Errorf("%d rows stand out", n)
	}
}

func TestPairsStandSideBySide(t *testing.T) {
	text := page(t, Page{Parts: []Part{{
		Bars:   &Bars{First: "before", Second: "after", Rows: []BarRow{{"a", 4, 1}, {"b", 0, 2}, {"c", 4000, 0}}},
		Curves: []Curve{{Values: []float64{0, 10}, Second: []float64{10, 0}, SecondName: "after", High: 10}},
	}}})
	for _, want := range []string{
		// The longest figure, of five characters, keeps its room beside the longest bar.
		`width:calc((100% - 7ch)*1.000)"></i>4,000<`, `width:calc((100% - 7ch)*0.001)"></i>4<`, `width:calc((100% - 7ch)*0.000)"></i>0<`,
		`class="second" d="M0.0 0.0L1000.0 200.0"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in the page", want)
		}
	}
}

// TestACellOfSentencesNamesItsColumn: on a telephone there is no head above it.
func TestACellOfSentencesNamesItsColumn(t *testing.T) {
	rows := &Table{Head: []string{"rail", "why"}, Rows: [][]string{{"a", "because", "more than the head"}}}
	text := page(t, Page{Parts: []Part{{Table: rows, Wrap: true}}})
	for _, want := range []string{`<td data-h="why">because<`, `<td data-h="">more than the head<`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in the page", want)
		}
	}
	if text := page(t, Page{Parts: []Part{{Table: rows}}}); bytes.Contains(text, []byte("data-h=")) {
		t.Error("figures stay in columns")
	}
}

func TestBreaksAreWhereDatesBegin(t *testing.T) {
	got := Breaks([]string{"2026-03-18", "2026-03-18", "2026-03-19"})
	if want := []Break{{0, "03-18"}, {2, "03-19"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	many := make([]string, 90)
	for i := range many {
		many[i] = fmt.Sprintf("2026-01-%02d", i)
	}
	if got := Breaks(many); len(got) > datesMax || got[0].At != 0 {
		t.Errorf("%d labels: %v", len(got), got)
	}
	if Breaks(nil) != nil {
		t.Error("no values have a break")
	}
}
