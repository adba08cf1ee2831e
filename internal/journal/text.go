package journal

import (
	"encoding/hex"
	"errors"
	"time"
)

// Errors of the text forms.
var (
	errHashText = errors.New("hash is not 64 lower-case hex digits")
	errTimeText = errors.New("time is not of the form 2006-01-02T15:04:05.000000000Z")
)

const (
	timeLayout    = "2006-01-02T15:04:05.000000000Z"
	hashTextBytes = 2 * len(Hash{})
)

// IsZero reports whether h is the zero hash, which precedes an account's first entry.
func (h Hash) IsZero() bool { return h == Hash{} }

// String returns 64 lower-case hex digits.
func (h Hash) String() string {
	var b [hashTextBytes]byte
	hex.Encode(b[:], h[:])
	return string(b[:])
}

// AppendText appends the text of String. It never fails.
func (h Hash) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, h[:]), nil }

// MarshalText returns the text of String. It never fails.
func (h Hash) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalText reads exactly 64 lower-case hex digits; on an error h is unchanged.
func (h *Hash) UnmarshalText(b []byte) error {
	read, ok := parseHash(b)
	if !ok {
		return errHashText
	}
	*h = read
	return nil
}

// ParseHash reads exactly 64 lower-case hex digits.
func ParseHash(text string) (Hash, error) {
	h, ok := parseHash([]byte(text))
	if !ok {
		return Hash{}, errHashText
	}
	return h, nil
}

func parseHash(b []byte) (h Hash, ok bool) {
	if len(b) != hashTextBytes {
		return Hash{}, false
	}
	var wrong byte
	for i := range h {
		hi, lo := hexValues[b[2*i]], hexValues[b[2*i+1]]
		wrong |= hi | lo
		h[i] = hi<<4 | lo&0xf
	}
	if wrong > 0xf {
		return Hash{}, false
	}
	return h, true
}

// hexValues gives the value of each lower-case hex digit, and 0xff for any other byte.
//
//archtest:immutable a table that nothing writes to
var hexValues = hexTable()

func hexTable() (table [256]byte) {
	for c := range table {
		table[c] = lowerHex(byte(c))
	}
	return table
}

// lowerHex returns the value of a lower-case hex digit, and 0xff for any other byte.
func lowerHex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// At returns t in UTC without a monotonic reading.
func At(t time.Time) Time { return Time{t.Round(0).UTC()} }

// String returns the only text form of the instant.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends the only text form. Years outside 0 to 9999 are an error.
func (t Time) AppendText(b []byte) ([]byte, error) {
	u := t.UTC()
	if y := u.Year(); y < 0 || y > 9999 {
		return nil, errTimeText
	}
	return u.AppendFormat(b, timeLayout), nil
}

// MarshalText returns the only text form. Years outside 0 to 9999 are an error.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(make([]byte, 0, len(timeLayout))) }

// MarshalJSON returns the text form as a JSON string.
func (t Time) MarshalJSON() ([]byte, error) {
	b, err := t.AppendText(append(make([]byte, 0, len(timeLayout)+2), '"'))
	return append(b, '"'), err
}

// UnmarshalText reads the only text form, byte for byte; on an error t is unchanged.
func (t *Time) UnmarshalText(b []byte) error {
	read, ok := parseTime(b)
	if !ok {
		return errTimeText
	}
	t.Time = read
	return nil
}

// UnmarshalJSON reads a JSON string of the text form. null is refused.
func (t *Time) UnmarshalJSON(b []byte) error {
	if len(b) != len(timeLayout)+2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errTimeText
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// parseTime reads the fixed layout by position, since a fold reads several of them in
// each entry. The date is checked by writing it again.
func parseTime(b []byte) (time.Time, bool) {
	if len(b) != len(timeLayout) {
		return time.Time{}, false
	}
	for i := range len(timeLayout) {
		switch c := timeLayout[i]; {
		case c >= '0' && c <= '9':
			if b[i] < '0' || b[i] > '9' {
				return time.Time{}, false
			}
		case b[i] != c:
			return time.Time{}, false
		}
	}
	year, month, day := digits(b[0:4]), digits(b[5:7]), digits(b[8:10])
	hour, minute, second := digits(b[11:13]), digits(b[14:16]), digits(b[17:19])
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, digits(b[20:29]), time.UTC)
	if t.Day() != day {
		return time.Time{}, false
	}
	return t, true
}

func digits(b []byte) int {
	n := 0
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}
