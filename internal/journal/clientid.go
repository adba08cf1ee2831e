package journal

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strconv"
)

const (
	orderIDDomain = "broker-rails order id v1\n"
	orderIDPrefix = "br-"
	orderIDBytes  = 15 // 120 bits are 24 characters of base32, without padding
)

// ClientOrderID derives the client order id that a broker is sent from the decision
// that allows the order, so that the broker's own records bear witness to the entry.
// It is "br-" and the lower-case base32 of the first 15 bytes of the SHA-256 of
// "broker-rails order id v1", account, seq and hash in hex, each on a line of its own
// with no newline after the last: 27 characters.
func ClientOrderID(account string, seq uint64, h Hash) string {
	b := append(make([]byte, 0, 192), orderIDDomain...)
	b = append(append(b, account...), '\n')
	b = append(strconv.AppendUint(b, seq, 10), '\n')
	b = hex.AppendEncode(b, h[:])
	sum := sha256.Sum256(b)
	id := make([]byte, 0, len(orderIDPrefix)+orderIDBytes*8/5)
	id = append(id, orderIDPrefix...)
	return string(lowerBase32.AppendEncode(id, sum[:orderIDBytes]))
}

// HasOrderIDForm reports whether text has the form of what ClientOrderID returns. A
// broker's order under such an id was sent by a journal, this one or another.
func HasOrderIDForm(text string) bool {
	if len(text) != len(orderIDPrefix)+orderIDBytes*8/5 || text[:len(orderIDPrefix)] != orderIDPrefix {
		return false
	}
	for _, c := range []byte(text[len(orderIDPrefix):]) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

//archtest:immutable an encoding has no setters
var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
