package drill

// roll draws from one place of a history. Where the place is the same, the draws are,
// whatever happened elsewhere (SplitMix64, keyed by the place).
type roll struct{ state uint64 }

func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// at is the roll of a place: a name and two numbers.
func at(seed uint64, name string, a, b int) *roll {
	h := mix(seed + 0x9e3779b97f4a7c15)
	for i := range len(name) {
		h = mix(h ^ uint64(name[i]))
	}
	return &roll{mix(mix(h^uint64(a)*0x9e3779b97f4a7c15) ^ uint64(b))}
}

func (r *roll) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// n is a number from 0 to most-1.
func (r *roll) n(most int) int { return int(r.next() % uint64(most)) }

// in reports one chance in so many thousand.
func (r *roll) in(thousandths int) bool { return r.n(1000) < thousandths }

// quarter is 64 bits of which a quarter is set.
func (r *roll) quarter() uint64 {
	a := r.next()
	return a & r.next()
}

func pick[T any](r *roll, list ...T) T { return list[r.n(len(list))] }
