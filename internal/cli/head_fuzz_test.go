package cli

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzHeadFrom reads what --head takes. What is read is an entry that can be.
func FuzzHeadFrom(f *testing.F) {
	f.Add("paper/12=" + strings.Repeat("0", 64))
	f.Add("*/1=" + strings.Repeat("f", 64))
	f.Add("a/b/1=")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := headFrom(text)
		if err != nil {
			return
		}
		if again, err := headFrom(fmt.Sprintf("%s/%d=%s", h.Account, h.Seq, h.Hash)); err != nil || again != h || h.Seq == 0 {
			t.Fatalf("%+v is read again as %+v (%v)", h, again, err)
		}
	})
}
