package main

import (
	"fmt"
	"os"
	"strings"
)

// notes are the survivors that a committed file names. Each is four lines or more, with an
// empty line after it:
//
//	package function operator
//	the source line, trimmed
//	old => new
//	why it may survive, on as many lines as it takes
//
// A line that begins with # is a remark.
type notes struct {
	path    string
	reasons map[string]string
	used    map[string]bool
}

func readNotes(path string) (*notes, error) {
	n := &notes{path: path, reasons: map[string]string{}, used: map[string]bool{}}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return n, nil
	}
	if err != nil {
		return nil, err
	}
	for _, part := range strings.Split(string(text), "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(part, "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		if len(lines) < 4 {
			return nil, fmt.Errorf("%s: %q has no reason", path, lines[0])
		}
		key := strings.Join(lines[:3], "\n")
		if _, twice := n.reasons[key]; twice {
			return nil, fmt.Errorf("%s: %q stands twice", path, lines[0]+" "+lines[2])
		}
		n.reasons[key] = strings.Join(lines[3:], " ")
	}
	return n, nil
}

// takes says whether the notes name a survivor, and why it may survive.
func (n *notes) takes(m *mutant) (string, bool) {
	reason, ok := n.reasons[m.key()]
	if ok {
		n.used[m.key()] = true
	}
	return reason, ok
}

// stale are the notes of the packages looked at that no survivor used.
func (n *notes) stale(looked map[string]bool) []string {
	var keys []string
	for k := range n.reasons {
		name, _, _ := strings.Cut(k, " ")
		if looked[name] && !n.used[k] {
			keys = append(keys, k)
		}
	}
	return keys
}
