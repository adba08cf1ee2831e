package money

import (
	"math/big"
	"testing"
)

func BenchmarkCmp(b *testing.B) {
	x, y := MustNotional("25000"), MustNotional("25000.000000001")
	sum := 0
	for b.Loop() {
		sum += x.Cmp(y)
	}
	_ = sum
}

func BenchmarkAdd(b *testing.B) {
	x, y := MustNotional("25000"), MustNotional("0.01")
	ok := true
	for b.Loop() && ok {
		x, ok = x.Add(y)
	}
}

func BenchmarkTimes(b *testing.B) {
	p, q := MustPrice("12345.678901"), MustQuantity("187.25")
	for b.Loop() {
		if _, ok := p.Times(q, Up); !ok {
			b.Fatal("refused")
		}
	}
}

func BenchmarkTimesWide(b *testing.B) {
	p, q := MustPrice("98765432109.876543211"), MustQuantity("123456.789")
	for b.Loop() {
		if _, ok := p.Times(q, Up); !ok {
			b.Fatal("refused")
		}
	}
}

// BenchmarkTimesBig is the yardstick of BenchmarkTimes.
func BenchmarkTimesBig(b *testing.B) {
	p, q := bigOf(MustPrice("12345.678901").fixed), bigOf(MustQuantity("187.25").fixed)
	z, rem := new(big.Int), new(big.Int)
	for b.Loop() {
		z.Mul(p, q).QuoRem(z, bigOne, rem)
	}
}

func BenchmarkPer(b *testing.B) {
	n, q := MustNotional("25000"), MustQuantity("187")
	for b.Loop() {
		if _, ok := n.Per(q, Up); !ok {
			b.Fatal("refused")
		}
	}
}

func BenchmarkExceedsBandAbove(b *testing.B) {
	p, ref, band := MustPrice("227.46"), MustPrice("224.10"), BasisPointsFromInt(150)
	for b.Loop() {
		if _, ok := p.ExceedsBandAbove(ref, band); !ok {
			b.Fatal("refused")
		}
	}
}

func BenchmarkHighestWithinBandAbove(b *testing.B) {
	ref, band, cent := MustPrice("224.10"), BasisPointsFromInt(150), MustPrice("0.01")
	for b.Loop() {
		if _, ok := HighestWithinBandAbove(ref, band, cent); !ok {
			b.Fatal("refused")
		}
	}
}

func BenchmarkMultipleOf(b *testing.B) {
	p, cent := MustPrice("224.10"), MustPrice("0.01")
	for b.Loop() {
		if !p.MultipleOf(cent) {
			b.Fatal("no multiple")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := ParsePrice("12345.678901"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendTo(b *testing.B) {
	p, buffer := MustPrice("12345.678901"), make([]byte, 0, 32)
	for b.Loop() {
		buffer = p.AppendTo(buffer[:0])
	}
}
