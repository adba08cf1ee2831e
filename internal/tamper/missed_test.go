package tamper

import (
	"slices"
	"testing"
)

// The demonstration fails when a defence is taken away, or says what it cannot know.
func TestAMissingDefenceIsTold(t *testing.T) {
	for _, a := range attacks() {
		designed := func() (cells []Cell) {
			for _, d := range Defences() {
				c := Cell{Defence: d, Answer: Passes}
				if slices.Contains(a.catches, d) {
					c.Answer = Caught
				}
				cells = append(cells, c)
			}
			return cells
		}
		if missed := a.missed(designed()); len(missed) != 0 {
			t.Errorf("%s: %q", a.name, missed)
		}
		for i, d := range Defences() {
			for _, answer := range []Answer{Passes, Caught, NotAsked} {
				cells := designed()
				told := slices.Contains(a.catches, d) || slices.Contains(a.passes, d)
				same := cells[i].Answer == answer
				cells[i].Answer = answer
				free := !told || d == Broker && answer == NotAsked
				if missed := a.missed(cells); (len(missed) == 0) != (same || free) {
					t.Errorf("%s: %s says %q, and the demonstration says %q", a.name, d, answer, missed)
				}
			}
		}
	}
}
