package cli

import (
	"os"
	"strings"
	"testing"
)

// TestExampleCaseIsPlayed: the case that the help of rails adversarial shows is the one
// that its script plays.
func TestExampleCaseIsPlayed(t *testing.T) {
	script, err := os.ReadFile("testdata/script/adversarial.txtar")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(exampleCase, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	if !strings.Contains(string(script), "-- own/case.yaml --\n"+strings.Join(lines, "\n")+"\n") {
		t.Error("the help shows another case than the script plays")
	}
}
