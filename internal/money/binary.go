package money

import (
	"encoding/binary"
	"errors"
)

// BinaryBytes is the length of a figure's binary form.
const BinaryBytes = 16

var errBinary = errors.New("not the binary form of a figure")

// AppendBinary appends the figure's coefficient in two's complement, big-endian,
// BinaryBytes long. It never fails.
func (a fixed) AppendBinary(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint64(b, uint64(a.hi))
	return binary.BigEndian.AppendUint64(b, a.lo), nil
}

// UnmarshalBinary reads what AppendBinary writes. A figure out of range and any other
// length are errors, and then the figure is unchanged.
func (a *fixed) UnmarshalBinary(b []byte) error {
	if len(b) != BinaryBytes {
		return errBinary
	}
	read := fixed{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])}
	if _, m := read.split(); !m.inRange() {
		return errBinary
	}
	*a = read
	return nil
}
