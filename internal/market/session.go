package market

import (
	"errors"
	"time"
)

// SessionKind is the part of an exchange day that an instant falls into. The zero
// value is closed.
type SessionKind uint8

// Kinds of sessions.
const (
	Closed SessionKind = iota
	Pre
	Regular
	Post
)

var sessionWords = [...]string{"closed", "pre", "regular", "post"}

// ErrSessionKind says that a text is not one of closed, pre, regular, post.
var ErrSessionKind = errors.New("session is not one of closed, pre, regular, post")

// String returns closed, pre, regular or post.
func (k SessionKind) String() string {
	if int(k) < len(sessionWords) {
		return sessionWords[k]
	}
	return ""
}

// MarshalText writes the word; a number without one is an error.
func (k SessionKind) MarshalText() ([]byte, error) {
	if k.String() == "" {
		return nil, ErrSessionKind
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads the word, byte for byte.
func (k *SessionKind) UnmarshalText(b []byte) error {
	for i, w := range sessionWords {
		if w == string(b) {
			*k = SessionKind(i)
			return nil
		}
	}
	return ErrSessionKind
}

// SessionInfo says where an instant stands on the exchange's calendar.
type SessionInfo struct {
	// TradeDate is the day that counters belong to. See Session.
	TradeDate TradeDate `json:"trade_date,omitzero"`
	// Kind is closed whenever Known is false.
	Kind SessionKind `json:"kind"`
	// Known: the exchange's date at the instant lies within the calendar's validity.
	Known bool `json:"known"`
	// Hours of TradeDate, in UTC; zero if that date lies outside the validity.
	OpensAt          time.Time `json:"opens_at,omitzero"`
	ClosesAt         time.Time `json:"closes_at,omitzero"`
	ExtendedOpensAt  time.Time `json:"extended_opens_at,omitzero"`
	ExtendedClosesAt time.Time `json:"extended_closes_at,omitzero"`
}

// Session returns the trade date and session of now.
//
// The trade date is the exchange's local date if that is a trading day, from midnight
// to midnight, also before 04:00 and after 20:00 when it is closed; on any other day
// it is the next trading day. So it changes at New York's midnight only, never at
// UTC's, and as time goes on it never goes back. Outside the validity every weekday
// is taken for a trading day, so that the counters go on; Known is then false and
// nothing is open. It is no date outside the years 1 to 9999.
func Session(now time.Time, c Calendar) SessionInfo {
	day, sec, _, ok := newYork(now)
	if !ok {
		return SessionInfo{}
	}
	info := SessionInfo{Known: c.covers(day)}
	trade := day
	for !c.tradesOrMight(trade) {
		trade++
	}
	info.TradeDate = dateOf(trade)
	kind := c.kind(trade)
	if kind == dayClosed {
		return info
	}
	closes, extended := closesOf(kind)
	info.OpensAt = fromNewYork(trade, regularOpensAt)
	// All these hours are on one side of any clock change, so one offset serves.
	info.ClosesAt = info.OpensAt.Add(closes - regularOpensAt)
	info.ExtendedOpensAt = info.OpensAt.Add(preOpensAt - regularOpensAt)
	info.ExtendedClosesAt = info.OpensAt.Add(extended - regularOpensAt)
	if trade == day {
		info.Kind = kindAt(time.Duration(sec)*time.Second, closes, extended)
	}
	return info
}

// kindAt places a time of day within a trading day. Whole seconds are enough: all
// bounds are, and each session holds its first instant and not its last.
func kindAt(clock, closes, extendedCloses time.Duration) SessionKind {
	switch {
	case clock < preOpensAt:
		return Closed
	case clock < regularOpensAt:
		return Pre
	case clock < closes:
		return Regular
	case clock < extendedCloses:
		return Post
	}
	return Closed
}

// closesOf returns the ends of the regular and the extended session on a trading day.
func closesOf(kind dayKind) (regular, extended time.Duration) {
	if kind == dayEarly {
		return regularClosesEarly, extendedClosesEarly
	}
	return regularClosesAt, extendedClosesAt
}

// tradesOrMight reports whether the day is a trading day or, outside the validity, a
// weekday.
func (c Calendar) tradesOrMight(day int) bool {
	if c.covers(day) {
		return c.days[day-c.from] != dayClosed
	}
	return !isWeekend(day)
}
