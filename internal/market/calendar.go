package market

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// MICXNYS is the ISO 10383 code of the New York Stock Exchange.
const MICXNYS = "XNYS"

// Hours of an exchange day, as times of day on New York's clock. Each session is
// half-open: it holds its first instant and not its last.
//
// Source: NYSE Rule 7.34 for the core session; NYSE Arca Rule 7.34-E for the early
// and late sessions, and its holiday notices for their end after an early close.
const (
	preOpensAt          = 4 * time.Hour
	regularOpensAt      = 9*time.Hour + 30*time.Minute
	regularClosesAt     = 16 * time.Hour
	regularClosesEarly  = 13 * time.Hour
	extendedClosesAt    = 20 * time.Hour
	extendedClosesEarly = 17 * time.Hour
)

// ExpiryWarnDays is from how many days before the end of a calendar's validity a
// warning is due.
const ExpiryWarnDays = 30

// Bounds of operator overrides.
const (
	OverridesMax           = 1_000
	OverrideReasonBytesMax = 200
)

// dayKind is what the table says of one date. The zero value is a closed day.
type dayKind uint8

const (
	dayClosed dayKind = iota
	dayFull
	dayEarly
)

// Calendar is one exchange's trading days. It is immutable: copies share the table,
// and WithOverrides makes a new one. The zero Calendar knows no day, and every
// session in it is closed.
type Calendar struct {
	mic       string
	from      int       // day number of days[0]
	days      []dayKind // one for each calendar day of the validity
	overrides []Override
	digest    string
}

// OverrideKind is what an override does to a day. The zero value is nothing and is
// refused. None of them opens a closed day or lengthens a session.
type OverrideKind uint8

// Kinds of overrides.
const (
	OverrideNone       OverrideKind = iota
	OverrideClosed                  // the exchange stays closed all day
	OverrideEarlyClose              // the regular session ends at 13:00
)

var overrideWords = [...]string{"", "closed", "early_close"}

// String returns closed or early_close, and nothing for no kind.
func (k OverrideKind) String() string {
	if int(k) < len(overrideWords) {
		return overrideWords[k]
	}
	return ""
}

// ErrOverrideKind says that a text is neither closed nor early_close.
var ErrOverrideKind = errors.New("override is neither closed nor early_close")

// MarshalText writes closed or early_close; no kind is an error.
func (k OverrideKind) MarshalText() ([]byte, error) {
	if k.String() == "" {
		return nil, ErrOverrideKind
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads closed or early_close, byte for byte.
func (k *OverrideKind) UnmarshalText(b []byte) error {
	for i, w := range overrideWords {
		if i > 0 && w == string(b) {
			*k = OverrideKind(i)
			return nil
		}
	}
	return ErrOverrideKind
}

// Override is an operator's correction of the shipped table: a closure or an early
// close that was announced after it was made.
type Override struct {
	Date   TradeDate    `json:"date"`
	Kind   OverrideKind `json:"kind"`
	Reason string       `json:"reason"` // 1 to OverrideReasonBytesMax bytes
}

// OverrideError says which override was refused and why.
type OverrideError struct {
	Date TradeDate
	Why  string // outside_validity, unknown_kind, no_reason, reason_too_long, duplicate_date, not_a_trading_day, too_many
}

func (e *OverrideError) Error() string {
	return fmt.Sprintf("calendar override %s: %s", e.Date, e.Why)
}

// ByMIC returns the calendar of the exchange with this ISO 10383 code, and false for
// one that is not shipped.
func ByMIC(mic string) (Calendar, bool) {
	if mic == MICXNYS {
		return XNYS(), true
	}
	return Calendar{}, false
}

// XNYS returns the calendar of the New York Stock Exchange, which the other US stock
// exchanges share, from 2010-01-01 to 2027-12-31. It builds the table: keep the result.
func XNYS() Calendar {
	c := Calendar{mic: MICXNYS, from: xnysFrom.number()}
	c.days = make([]dayKind, xnysThrough.number()-c.from+1)
	for i := range c.days {
		if !isWeekend(c.from + i) {
			c.days[i] = dayFull
		}
	}
	for _, y := range xnysYears {
		for _, d := range y.closed {
			c.days[d.number()-c.from] = dayClosed
		}
		for _, d := range y.early {
			c.days[d.number()-c.from] = dayEarly
		}
	}
	c.digest = c.sum()
	return c
}

// WithOverrides returns the calendar with the overrides applied, on top of those that
// it already has; c itself stays as it is. An override outside the validity, of no
// kind, without a reason, for a date that already has one, or that would close a
// closed day early is an *OverrideError and gives the zero Calendar.
func (c Calendar) WithOverrides(overrides []Override) (Calendar, error) {
	out := c
	out.days = slices.Clone(c.days)
	out.overrides = append(slices.Clone(c.overrides), overrides...)
	if len(out.overrides) > OverridesMax {
		return Calendar{}, &OverrideError{Why: "too_many"}
	}
	slices.SortStableFunc(out.overrides, func(a, b Override) int { return int(a.Date) - int(b.Date) })
	for i, o := range out.overrides {
		if i > 0 && out.overrides[i-1].Date == o.Date {
			return Calendar{}, &OverrideError{Date: o.Date, Why: "duplicate_date"}
		}
	}
	for _, o := range overrides {
		if why := out.apply(o); why != "" {
			return Calendar{}, &OverrideError{Date: o.Date, Why: why}
		}
	}
	out.digest = out.sum()
	return out, nil
}

// apply writes one override into the table, or says why it cannot.
func (c Calendar) apply(o Override) (why string) {
	switch {
	case !o.Date.Valid() || !c.covers(o.Date.number()):
		return "outside_validity"
	case o.Reason == "":
		return "no_reason"
	case len(o.Reason) > OverrideReasonBytesMax:
		return "reason_too_long"
	}
	day := &c.days[o.Date.number()-c.from]
	switch o.Kind {
	case OverrideClosed:
		*day = dayClosed
	case OverrideEarlyClose:
		if *day == dayClosed {
			return "not_a_trading_day"
		}
		*day = dayEarly
	default:
		return "unknown_kind"
	}
	return ""
}

// MIC is the exchange's ISO 10383 code; empty for the zero Calendar.
func (c Calendar) MIC() string { return c.mic }

// Overrides returns the overrides that are applied, by date.
func (c Calendar) Overrides() []Override { return slices.Clone(c.overrides) }

// ValidFrom is the first date that the calendar knows; no date for the zero Calendar.
func (c Calendar) ValidFrom() TradeDate {
	if len(c.days) == 0 {
		return 0
	}
	return dateOf(c.from)
}

// ValidThrough is the last date that the calendar knows; no date for the zero Calendar.
func (c Calendar) ValidThrough() TradeDate {
	if len(c.days) == 0 {
		return 0
	}
	return dateOf(c.from + len(c.days) - 1)
}

// DaysToExpiry is how many calendar days the validity lasts beyond New York's date at
// now: 0 on its last day, negative after it. It is negative for the zero Calendar
// and for an instant outside the years 1 to 9999. From ExpiryWarnDays down, warn.
func (c Calendar) DaysToExpiry(now time.Time) int {
	day, _, _, ok := newYork(now)
	if !ok || len(c.days) == 0 {
		return -1
	}
	return c.from + len(c.days) - 1 - day
}

// Digest is the SHA-256 of the calendar's canonical text, overrides included, in
// lower-case hex. Two calendars with one digest answer alike. The zero Calendar's is
// empty.
func (c Calendar) Digest() string { return c.digest }

func (c Calendar) sum() string {
	h := sha256.Sum256(c.AppendCanonical(nil))
	return hex.EncodeToString(h[:])
}

// AppendCanonical appends the text that Digest is computed over: lines of ASCII, each
// ended by a line feed, that state the exchange, validity, clock and hours, then each
// weekday that is not a full trading day, by date, then the overrides, by date.
func (c Calendar) AppendCanonical(b []byte) []byte {
	b = append(b, "calendar 1\nmic "...)
	b = append(b, c.mic...)
	b = append(b, "\nvalid "...)
	b = c.ValidFrom().AppendTo(b)
	b = append(b, ' ')
	b = c.ValidThrough().AppendTo(b)
	b = append(b, "\nclock -05:00, -04:00 from 02:00 on the second Sunday of March to 02:00 on the first Sunday of November\n"+
		"hours 04:00 09:30 16:00 20:00, early 13:00 17:00\n"...)
	for i, kind := range c.days {
		switch {
		case kind == dayEarly:
			b = append(b, "early "...)
		case kind == dayClosed && !isWeekend(c.from+i):
			b = append(b, "closed "...)
		default:
			continue
		}
		b = dateOf(c.from + i).AppendTo(b)
		b = append(b, '\n')
	}
	for _, o := range c.overrides {
		b = append(b, "override "...)
		b = o.Date.AppendTo(b)
		b = append(b, ' ')
		b = append(b, o.Kind.String()...)
		b = append(b, ' ')
		b = strconv.AppendQuoteToASCII(b, o.Reason)
		b = append(b, '\n')
	}
	return b
}

// covers reports whether the day lies within the validity.
func (c Calendar) covers(day int) bool { return day >= c.from && day-c.from < len(c.days) }

// kind of a day; closed outside the validity.
func (c Calendar) kind(day int) dayKind {
	if !c.covers(day) {
		return dayClosed
	}
	return c.days[day-c.from]
}
