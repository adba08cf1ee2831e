package bound

import "math/big"

// row is one inequality: the sum of coef[i] x choice i is at most most, which is not
// negative, so that doing nothing always satisfies it.
type row struct {
	text string   // the inequality in words and figures
	keys []string // of the limits document that it comes from; none: it holds by itself
	coef map[int]*big.Rat
	most *big.Rat
}

// pivotsMax bounds a solution. The largest systems here need a few hundred.
const pivotsMax = 20_000

// solution is a largest sum. The factors prove it: the rows, each times its factor, add
// up to at least the objective.
type solution struct {
	value     *big.Rat
	factors   []*big.Rat // of the rows, not negative
	chosen    []*big.Rat // choices that reach the value, in fractions
	unbounded bool
	gaveUp    bool // pivotsMax was reached: nothing is known
}

// largest is the simplex method in exact fractions on sparse rows. The column that enters
// is the first that gains and the row that leaves the first that ties (Bland's rule), so
// it cannot go round in circles.
func largest(rows []row, objective map[int]*big.Rat, choices int) solution {
	t := newTableau(rows, objective, choices)
	for range pivotsMax {
		enter := t.entering()
		if enter < 0 {
			return t.solution(len(rows), choices)
		}
		leave := t.leaving(enter)
		if leave < 0 {
			return solution{unbounded: true}
		}
		t.pivot(leave, enter)
	}
	return solution{gaveUp: true}
}

// tableau holds the rows with a slack each, and last the objective's negative.
type tableau struct {
	cells [][]*big.Rat // nil: 0
	most  []*big.Rat
	basis []int
}

func newTableau(rows []row, objective map[int]*big.Rat, choices int) *tableau {
	t := &tableau{}
	width := choices + len(rows)
	for i := range rows {
		line := make([]*big.Rat, width)
		for at, c := range rows[i].coef {
			if c.Sign() != 0 {
				line[at] = new(big.Rat).Set(c)
			}
		}
		line[choices+i] = big.NewRat(1, 1)
		t.cells = append(t.cells, line)
		t.most = append(t.most, new(big.Rat).Set(rows[i].most))
		t.basis = append(t.basis, choices+i)
	}
	last := make([]*big.Rat, width)
	for at, c := range objective {
		if c.Sign() != 0 {
			last[at] = new(big.Rat).Neg(c)
		}
	}
	t.cells, t.most = append(t.cells, last), append(t.most, new(big.Rat))
	return t
}

func (t *tableau) entering() int {
	for at, c := range t.cells[len(t.cells)-1] {
		if c != nil && c.Sign() < 0 {
			return at
		}
	}
	return -1
}

func (t *tableau) leaving(enter int) int {
	best, ratio := -1, new(big.Rat)
	for i, b := range t.basis {
		c := t.cells[i][enter]
		if c == nil || c.Sign() <= 0 {
			continue
		}
		r := new(big.Rat).Quo(t.most[i], c)
		if d := r.Cmp(ratio); best < 0 || d < 0 || d == 0 && b < t.basis[best] {
			best, ratio = i, r
		}
	}
	return best
}

func (t *tableau) pivot(leave, enter int) {
	inverse := new(big.Rat).Inv(t.cells[leave][enter])
	for at, c := range t.cells[leave] {
		if c != nil {
			t.cells[leave][at] = new(big.Rat).Mul(c, inverse)
		}
	}
	t.most[leave] = new(big.Rat).Mul(t.most[leave], inverse)
	for i := range t.cells {
		factor := t.cells[i][enter]
		if i == leave || factor == nil {
			continue
		}
		for at, c := range t.cells[leave] {
			if c != nil {
				t.cells[i][at] = less(t.cells[i][at], factor, c)
			}
		}
		t.most[i] = new(big.Rat).Sub(t.most[i], new(big.Rat).Mul(factor, t.most[leave]))
	}
	t.basis[leave] = enter
}

// less is a - factor x c; nil stands for 0.
func less(a, factor, c *big.Rat) *big.Rat {
	d := new(big.Rat).Mul(factor, c)
	if a == nil {
		return d.Neg(d)
	}
	if d.Sub(a, d); d.Sign() == 0 {
		return nil
	}
	return d
}

func (t *tableau) solution(rows, choices int) solution {
	s := solution{value: t.most[len(t.most)-1]}
	last := t.cells[len(t.cells)-1]
	for i := range rows {
		y := last[choices+i]
		if y == nil {
			y = new(big.Rat)
		}
		s.factors = append(s.factors, y)
	}
	s.chosen = make([]*big.Rat, choices)
	for i, b := range t.basis {
		if b < choices {
			s.chosen[b] = t.most[i]
		}
	}
	return s
}

// proves checks a solution by nothing but multiplication and addition: the factors are
// not negative, the rows times their factors cover the objective, and come to the value.
func (s *solution) proves(rows []row, objective map[int]*big.Rat) bool {
	sum, total := map[int]*big.Rat{}, new(big.Rat)
	for i := range rows {
		y := s.factors[i]
		if y.Sign() < 0 {
			return false
		}
		for at, c := range rows[i].coef {
			if sum[at] == nil {
				sum[at] = new(big.Rat)
			}
			sum[at].Add(sum[at], new(big.Rat).Mul(y, c))
		}
		total.Add(total, new(big.Rat).Mul(y, rows[i].most))
	}
	for at, c := range objective {
		if sum[at] == nil {
			sum[at] = new(big.Rat)
		}
		sum[at].Sub(sum[at], c)
	}
	for _, left := range sum {
		if left.Sign() < 0 {
			return false
		}
	}
	return total.Cmp(s.value) == 0
}
