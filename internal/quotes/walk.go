package quotes

// The walk is a sum of octaves. Octave k draws a number at every multiple of its period
// and runs straight between them. Periods grow by four and amplitudes by two, as the
// spread of a random walk grows with the root of time; beyond nine hours they stay, so
// that a price keeps to its level. One second costs two draws an octave, whatever came
// before it: no history has to be walked.
//
// Amplitudes are in billionths of the level. They sum to 350.5 bps, the furthest that a
// price can be from its level; within a minute it moves a few bps.
var octaves = [...]octave{
	{3, 150_000},
	{5, 300_000},
	{7, 600_000},
	{9, 1_200_000},
	{11, 2_400_000},
	{13, 4_800_000},
	{15, 6_400_000},
	{17, 6_400_000},
	{19, 6_400_000},
	{21, 6_400_000},
}

type octave struct {
	shift     uint  // the period is 1<<shift seconds
	amplitude int64 // billionths of the level
}

// drawBits is the width of a draw: values from -(1<<drawBits) to 1<<drawBits - 1. With
// an interpolation over at most 1<<21 seconds and the largest amplitude, every product
// stays below 1<<63.
const drawBits = 16

// Salts keep the draws of one second apart.
const (
	saltSpread = 101
	saltLast   = 102
)

// mix is the finalizer of SplitMix64: every bit of the input reaches every bit of the
// output. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// stream is the key of one symbol's draws under one seed. The text is hashed by FNV-1a.
func stream(seed uint64, symbol string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(symbol) {
		h = (h ^ uint64(symbol[i])) * 0x100000001b3
	}
	return mix(mix(seed) ^ h)
}

// draw returns the number of one cell of one octave or salt.
func draw(key uint64, salt uint, cell int64) uint64 {
	return mix(key ^ mix(uint64(cell)<<8|uint64(salt)))
}

// knot is the octave's value at the start of a cell, in drawBits.
func (o octave) knot(key uint64, cell int64) int64 {
	return int64(draw(key, o.shift, cell)>>(64-drawBits-1)) - 1<<drawBits
}

// at is the octave's part of the deviation at a second.
func (o octave) at(key uint64, second int64) int64 {
	cell := second >> o.shift
	into := second - cell<<o.shift
	from, to := o.knot(key, cell), o.knot(key, cell+1)
	between := from + ((to-from)*into)>>o.shift
	return (between * o.amplitude) >> drawBits
}

// span bounds the octave's part over the seconds from first to last.
func (o octave) span(key uint64, first, last int64) (low, high int64) {
	if (last-first)>>o.shift > 2 {
		return -o.amplitude, o.amplitude
	}
	low = o.at(key, first)
	high = low
	grow := func(v int64) { low, high = min(low, v), max(high, v) }
	grow(o.at(key, last))
	for cell := first>>o.shift + 1; cell<<o.shift < last; cell++ {
		grow(o.at(key, cell<<o.shift))
	}
	// Rounding between knots may reach one unit below either of them.
	return low - 1, high
}

// scale is the level's share that deviations are counted in.
const scale = 1_000_000_000

// spreadMaxCents is the widest spread; spreadSeconds how long one lasts.
const (
	spreadMaxCents = 4
	spreadShift    = 2
)

// centsAt returns bid and ask at a second.
func centsAt(key uint64, level, second int64) (bid, ask int64) {
	var deviation int64
	for _, o := range octaves {
		deviation += o.at(key, second)
	}
	// One to four cents, the narrow ones most often.
	r := draw(key, saltSpread, second>>spreadShift)
	spread := 1 + int64(min(r&3, r>>2&3))
	bid = bidAt(level, deviation, spread)
	return bid, bid + spread
}

func bidAt(level, deviation, spread int64) int64 {
	return max(1, level+(level*deviation)/scale-spread/2)
}

// centsWithin bounds the bids and asks of the seconds from first to last: no bid is
// below low and no ask above high. It may be wider than what they come to.
func centsWithin(key uint64, level, first, last int64) (low, high int64) {
	var down, up int64
	for _, o := range octaves {
		l, h := o.span(key, first, last)
		down, up = down+l, up+h
	}
	return bidAt(level, down, spreadMaxCents), bidAt(level, up, 1) + spreadMaxCents
}
