package profile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Figures names what a gate asks a broker for beside orders.
type Figures string

// Figures. Each is read with one tool of class read, at fixed places of its reply.
const (
	AccountFigures    Figures = "account"
	PositionFigures   Figures = "positions"
	OrderFigures      Figures = "orders"
	FillFigures       Figures = "fills"
	QuoteFigures      Figures = "quote"
	InstrumentFigures Figures = "instrument"
	ClockFigures      Figures = "clock"
)

// Limits of a reply of figures.
const (
	// FigureMembersMax is how many JSON values one reply may hold: 500 orders of 60.
	FigureMembersMax = 64 << 10
	RowsMax          = 1000
	rowTextBytesMax  = 256
)

func allFigures() []Figures {
	return []Figures{AccountFigures, PositionFigures, OrderFigures, FillFigures, QuoteFigures, InstrumentFigures, ClockFigures}
}

// figureFields are the fields that figures may have; the second list is needed.
func figureFields(w Figures) (known, needed []string) {
	switch w {
	case AccountFigures:
		return []string{"id", "cash", "buying_power", "previous_close_equity", "currency", "status"}, []string{"id", "cash"}
	case PositionFigures:
		return []string{"symbol", "quantity", "cost", "class", "side"}, []string{"symbol", "quantity"}
	case OrderFigures:
		return []string{
			"id", "client_id", "replaces", "symbol", "class", "side", "type", "time_in_force", "quantity", "filled", "average",
			"limit_price", "stop_price", "status", "extended", "at",
		}, []string{"id", "client_id", "symbol", "side", "quantity", "filled", "status"}
	case FillFigures:
		return []string{"id", "order_id", "symbol", "side", "quantity", "price", "fees", "at"}, []string{"id", "order_id", "symbol", "side", "quantity", "price"}
	case QuoteFigures:
		return []string{"bid", "ask", "last", "at"}, []string{"bid", "ask", "at"}
	case InstrumentFigures:
		return []string{"id", "symbol", "class", "status", "currency"}, []string{"symbol", "class"}
	case ClockFigures:
		return []string{"now"}, []string{"now"}
	}
	return nil, nil
}

// reads is how one kind of figures is asked for and found in the reply.
type reads struct {
	what      Figures
	tool      string
	arguments *value // texts $symbol and $after are replaced
	from      string // structured or json
	items     string // path of the list; empty: the reply is one row
	fields    []Word // field, path
	words     []fieldWords
	page      *page
}

type fieldWords struct {
	field string
	words []Word
}

// page says how the next part of a long list is asked for.
type page struct {
	argument string // takes the field's text of the last row
	field    string
	rows     int // a shorter reply is the last
}

// Query is one question for figures.
type Query struct {
	Tool      string
	Arguments []byte

	read   *reads
	symbol string
}

// Row is one row of figures. Its zero value holds none.
type Row struct{ fields []Word }

// Get returns a field's text; empty where the reply has none.
func (r Row) Get(field string) string {
	for _, w := range r.fields {
		if w.From == field {
			return w.To
		}
	}
	return ""
}

// Answers reports whether the profile says how these figures are asked for.
func (p *Profile) Answers(w Figures) bool { return p.figures(w) != nil }

func (p *Profile) figures(w Figures) *reads {
	for _, r := range p.reads {
		if r.what == w {
			return r
		}
	}
	return nil
}

// Query returns the question for figures, of a symbol where they are of one, after a
// place in a long list where one is given; not ok where the profile has no way to ask.
func (p *Profile) Query(w Figures, symbol, after string) (Query, bool) {
	r := p.figures(w)
	if r == nil || after != "" && r.page == nil {
		return Query{}, false
	}
	args := r.arguments.clone()
	for i, m := range args.members {
		if m.kind == '"' && m.text == "$symbol" {
			if symbol == "" {
				return Query{}, false
			}
			args.members[i] = text(symbol)
		}
	}
	if after != "" {
		args.set(r.page.argument, text(after))
	}
	return Query{Tool: r.tool, Arguments: args.appendTo(nil), read: r, symbol: symbol}, true
}

var (
	errFiguresUnread = errors.New("the reply does not hold the figures where the profile looks for them")
	errFiguresLong   = errors.New("the reply holds more than is read")
)

// Rows reads a reply. after is where to ask on, empty when this was all. An error means
// that nothing in the reply is to be believed.
func (q Query) Rows(reply Reply) (rows []Row, after string, err error) {
	if q.read == nil || reply.IsError {
		return nil, "", errFiguresUnread
	}
	v, err := q.read.channel(reply)
	if err != nil {
		return nil, "", err
	}
	list := []*value{v}
	if q.read.items != "" {
		at := v.at(q.read.items, q.symbol)
		if at == nil || at.kind != '[' {
			return nil, "", errFiguresUnread
		}
		list = at.members
	}
	if len(list) > RowsMax {
		return nil, "", errFiguresLong
	}
	for _, m := range list {
		row, err := q.read.row(m, q.symbol)
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, row)
	}
	if p := q.read.page; p != nil && len(rows) >= p.rows {
		after = rows[len(rows)-1].Get(p.field)
	}
	return rows, after, nil
}

func (r *reads) channel(reply Reply) (*value, error) {
	raw := reply.Structured
	if r.from == "json" {
		if len(reply.Texts) != 1 || reply.Other {
			return nil, errFiguresUnread
		}
		raw = []byte(reply.Texts[0])
	}
	if raw == nil {
		return nil, errFiguresUnread
	}
	if len(raw) > ReplyBytesMax {
		return nil, errFiguresLong
	}
	// The decoder counts up to MembersMax, which is meant for one call or answer.
	d := &decoder{dec: jsontext.NewDecoder(bytes.NewReader(raw)), members: MembersMax - FigureMembersMax}
	v, err := d.value(1)
	if err != nil {
		return nil, errFiguresUnread
	}
	if _, end := d.dec.ReadToken(); !errors.Is(end, io.EOF) {
		return nil, errFiguresUnread
	}
	return v, nil
}

func (r *reads) row(v *value, symbol string) (Row, error) {
	_, needed := figureFields(r.what)
	var row Row
	for _, f := range r.fields {
		to := ""
		if at := v.at(f.To, symbol); at != nil && (at.kind == '"' || at.kind == '0' || at.kind == 't' || at.kind == 'f') {
			to = at.text
		}
		if to == "" && slices.Contains(needed, f.From) || len(to) > rowTextBytesMax {
			return Row{}, errFiguresUnread
		}
		row.fields = append(row.fields, Word{f.From, r.word(f.From, to)})
	}
	return row, nil
}

// word translates a text that the profile has a word for; any other stays as it is.
func (r *reads) word(field, from string) string {
	for _, f := range r.words {
		if f.field != field {
			continue
		}
		for _, w := range f.words {
			if w.From == from {
				return w.To
			}
		}
	}
	return from
}

// at finds a value by dotted names; $symbol is the name of the symbol asked for, dots and
// all.
func (v *value) at(path, symbol string) *value {
	for part := range strings.SplitSeq(path, ".") {
		if part == "$symbol" {
			part = symbol
		}
		if v = v.member(part); v == nil {
			return nil
		}
	}
	return v
}

// reads loads the section of figures.
func (r *loader) reads(p *Profile, t *strict.Tree) {
	if t == nil {
		return
	}
	names := make([]string, 0, 8)
	for _, w := range allFigures() {
		names = append(names, string(w))
	}
	f := r.Fields(t, "reads", names...)
	for _, w := range allFigures() {
		if f.At(string(w)) != nil {
			p.reads = append(p.reads, r.figures(p, w, r.Fields(f.At(string(w)), f.Path(string(w)), "tool", "arguments", "from", "items", "fields", "words", "page")))
		}
	}
}

func (r *loader) figures(p *Profile, w Figures, f strict.Fields) *reads {
	out := &reads{what: w, tool: f.Need("tool"), from: f.Word("from", "structured", "json"), items: f.Text("items"), arguments: &value{kind: '{'}}
	if out.from == "" {
		f.Refuse("from", "is missing", "name the one place in a reply that is read")
	}
	if !slices.Contains(p.read, out.tool) {
		f.Refuse("tool", "is not a tool that the profile reads with", "list it under read")
	}
	for _, a := range f.Pairs("arguments", 16) {
		out.arguments.set(a.Key, r.literal(a.Value, f.Path("arguments")+"."+a.Key))
	}
	known, needed := figureFields(w)
	for _, a := range f.Pairs("fields", 32) {
		out.fields = append(out.fields, Word{r.Word(a.At, f.Path("fields"), known...), r.Text(a.Value, f.Path("fields")+"."+a.Key)})
	}
	for _, n := range needed {
		if !slices.ContainsFunc(out.fields, func(w Word) bool { return w.From == n }) {
			f.Refuse("fields", "does not say where "+n+" stands", "")
		}
	}
	for _, a := range f.Pairs("words", 16) {
		fw := fieldWords{field: r.Word(a.At, f.Path("words"), known...)}
		for _, b := range r.Pairs(a.Value, f.Path("words")+"."+a.Key, 64) {
			fw.words = append(fw.words, Word{b.Key, r.Text(b.Value, f.Path("words")+"."+a.Key+"."+b.Key)})
		}
		out.words = append(out.words, fw)
	}
	if t := f.At("page"); t != nil {
		g := r.Fields(t, f.Path("page"), "argument", "field", "rows")
		out.page = &page{argument: g.Need("argument"), field: g.Word("field", known...), rows: g.Count("rows", 1, RowsMax)}
	}
	return out
}

// EnvironmentOf says whether the account is paper or live, by the answer to the tool that
// the profile names for it. A text that no word begins is an error.
func (p *Profile) EnvironmentOf(reply Reply) (string, error) {
	if p.Environment.Tool == "" {
		return p.Environment.Value, nil
	}
	from := "structured"
	if reply.Structured == nil {
		from = "json"
	}
	v, err := (&reads{from: from}).channel(reply)
	if err != nil || reply.IsError {
		return "", errFiguresUnread
	}
	at := v.at(p.Environment.Path, "")
	if at == nil || at.kind != '"' && at.kind != '0' && at.kind != 't' && at.kind != 'f' {
		return "", errFiguresUnread
	}
	for _, w := range p.Environment.Words {
		if strings.HasPrefix(at.text, w.From) {
			return w.To, nil
		}
	}
	return "", errFiguresUnread
}

// LookupByID returns how an order is asked for by our id alone, where no reading of it is
// at hand: by the first tool whose lookup needs nothing else.
func (p *Profile) LookupByID(id string) (Lookup, bool) {
	for _, rs := range p.tools {
		r := Reading{rules: rs}
		if rs.class != Place {
			continue
		}
		if l, ok := r.Lookup(id); ok {
			return l, true
		}
	}
	return Lookup{}, false
}

// Excerpt is the beginning of a reply's text, for people.
func (r Reply) Excerpt() string {
	s := string(r.Structured)
	if len(r.Texts) > 0 {
		s = r.Texts[0]
	}
	return strings.ToValidUTF8(s[:min(len(s), excerptBytesMax)], "?")
}

const excerptBytesMax = 1024
