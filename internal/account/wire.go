package account

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// wire writes the state's compact binary form, or reads it: one description of a part
// serves both, so they cannot drift apart. Integers are varints in their shortest form,
// signed ones in zigzag; figures of money are a length with the sign and the bytes of
// their coefficient that matter; texts and lists have their length before them. Once a
// read was not as expected, bad stays set and everything read after it is zero.
type wire struct {
	b       []byte
	reading bool
	bad     bool
}

// take returns the next n bytes when reading.
func (w *wire) take(n int) []byte {
	if w.bad || n < 0 || n > len(w.b) {
		w.bad = true
		return nil
	}
	taken := w.b[:n]
	w.b = w.b[n:]
	return taken
}

func (w *wire) u8(v *uint8) {
	if !w.reading {
		w.b = append(w.b, *v)
		return
	}
	if b := w.take(1); b != nil {
		*v = b[0]
	}
}

func (w *wire) flag(v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	w.u8(&n)
	if w.reading {
		w.bad = w.bad || n > 1
		*v = n == 1
	}
}

func (w *wire) u64(v *uint64) {
	if !w.reading {
		w.b = binary.AppendUvarint(w.b, *v)
		return
	}
	read, n := binary.Uvarint(w.b)
	if w.bad || n <= 0 || n > 1 && w.b[n-1] == 0 {
		w.bad = true
		return
	}
	*v, w.b = read, w.b[n:]
}

func (w *wire) i64(v *int64) {
	n := uint64(*v)<<1 ^ uint64(*v>>63)
	w.u64(&n)
	*v = int64(n>>1) ^ -int64(n&1)
}

func (w *wire) number(v *int) {
	n := uint64(*v)
	w.u64(&n)
	*v = int(n)
}

// count writes or reads the length of a list whose items take at least least bytes
// each, so that no length can ask for more memory than its text could fill.
func (w *wire) count(n, least int) int {
	v := uint64(n)
	w.u64(&v)
	if w.reading && (w.bad || v > uint64(len(w.b)/least)) {
		w.bad = true
		return 0
	}
	return int(v)
}

func (w *wire) text(v *string) {
	n := w.count(len(*v), 1)
	if !w.reading {
		w.b = append(w.b, *v...)
		return
	}
	*v = string(w.take(n))
}

func (w *wire) raw(v []byte) {
	if !w.reading {
		w.b = append(w.b, v...)
		return
	}
	copy(v, w.take(len(v)))
}

func (w *wire) instant(v *time.Time) {
	seconds, nanos := v.Unix(), int64(v.Nanosecond())
	w.i64(&seconds)
	w.i64(&nanos)
	if w.reading {
		w.bad = w.bad || nanos < 0 || nanos >= int64(time.Second)
		*v = time.Unix(seconds, nanos).UTC()
	}
}

func (w *wire) quantity(v *money.Quantity) {
	if !w.reading {
		var buf [money.BinaryBytes]byte
		b, _ := v.AppendBinary(buf[:0])
		w.figure(b)
	} else if b, ok := w.readFigure(); ok && v.UnmarshalBinary(b[:]) != nil {
		w.bad = true
	}
}

func (w *wire) price(v *money.Price) {
	if !w.reading {
		var buf [money.BinaryBytes]byte
		b, _ := v.AppendBinary(buf[:0])
		w.figure(b)
	} else if b, ok := w.readFigure(); ok && v.UnmarshalBinary(b[:]) != nil {
		w.bad = true
	}
}

func (w *wire) notional(v *money.Notional) {
	if !w.reading {
		var buf [money.BinaryBytes]byte
		b, _ := v.AppendBinary(buf[:0])
		w.figure(b)
	} else if b, ok := w.readFigure(); ok && v.UnmarshalBinary(b[:]) != nil {
		w.bad = true
	}
}

// negativeFigure marks, in the length byte, a figure whose missing bytes are all ones.
const negativeFigure = 0x80

// figure writes a coefficient in two's complement without the leading bytes that only
// repeat the sign.
func (w *wire) figure(b []byte) {
	high, low := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	var mark byte
	if int64(high) < 0 {
		high, low, mark = ^high, ^low, negativeFigure
	}
	skip := bits.LeadingZeros64(high) / 8
	if skip == 8 {
		skip += bits.LeadingZeros64(low) / 8
	}
	w.b = append(append(w.b, mark|byte(money.BinaryBytes-skip)), b[skip:]...)
}

func (w *wire) readFigure() (b [money.BinaryBytes]byte, ok bool) {
	head := w.take(1)
	if head == nil {
		return b, false
	}
	var fill byte
	if head[0]&negativeFigure != 0 {
		fill = 0xff
	}
	n := int(head[0] &^ negativeFigure)
	text := w.take(n)
	if w.bad || n >= len(b) || n > 0 && text[0] == fill {
		w.bad = true
		return b, false
	}
	for i := range len(b) - n {
		b[i] = fill
	}
	copy(b[len(b)-n:], text)
	return b, true
}
