package sample

import "testing"

func TestOver(t *testing.T) {
	if Over(1, 5) || !Over(9, 5) {
		t.Error("over")
	}
}

func TestWord(t *testing.T) {
	for n, want := range []string{"", "one", "two", ""} {
		if got := Word(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestSum(t *testing.T) {
	for _, c := range []struct {
		list []int
		want int
	}{
		{nil, 0},
		{[]int{1, 2, 13, 0, 4}, 3},
		{[]int{5, -3, 12, 14}, 31},
		{[]int{-1, 1}, 1},
	} {
		if got := Sum(c.list); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
	}
}
