package account

import (
	"encoding/binary"

	"github.com/broker-rails/broker-rails/internal/money"
)

// mix folds a word into a 64-bit sum, so that a part of the state that changes one
// item at a time can be told apart without going over all of it. It finds folds that
// differ; it is no defence against forgery, which the journal's own hashes are.
//
// The constants are those of the splitmix64 generator.
func mix(h, word uint64) uint64 {
	h ^= word + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func mixNotional(h uint64, n money.Notional) uint64 {
	var buf [money.BinaryBytes]byte
	b, _ := n.AppendBinary(buf[:0])
	return mixBytes(h, b)
}

func mixBytes(h uint64, b []byte) uint64 {
	h = mix(h, uint64(len(b)))
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var last [8]byte
	copy(last[:], b)
	return mix(h, binary.LittleEndian.Uint64(last[:]))
}
