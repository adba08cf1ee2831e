package profile_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/profiles"
)

func TestShippedProfilesLoad(t *testing.T) {
	names, err := fs.Glob(profiles.Files(), "*.yaml")
	if err != nil || len(names) < 34 {
		t.Fatalf("%d profiles, %v", len(names), err)
	}
	for _, name := range names {
		text, err := profiles.Files().ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Load(name, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if p.ID != strings.TrimSuffix(name, ".yaml") {
			t.Errorf("%s calls itself %s", name, p.ID)
		}
	}
}

type toolFact struct {
	Class     string
	Arguments []string
}

func tools(t *testing.T) (out map[string]map[string]toolFact) {
	t.Helper()
	text, err := profiles.Files().ReadFile("vectors/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever is not a read is denied, or mapped with an answer for each of its arguments.
func TestNoToolPassesWithoutAMapping(t *testing.T) {
	writes, all := 0, 0
	for id, list := range tools(t) {
		p := shipped(t, id)
		if p == nil {
			t.Errorf("%s has no profile", id)
			continue
		}
		for name, fact := range list {
			all++
			class, known := p.Class(name)
			if !known {
				t.Errorf("%s does not name %s", id, name)
			}
			if fact.Class == "read" || fact.Class == "read_post" {
				continue
			}
			writes++
			if class == profile.Read {
				t.Errorf("%s takes %s, of class %s, for a read", id, name, fact.Class)
			}
			if mapped, ok := p.Arguments(name); ok {
				for _, a := range fact.Arguments {
					if !slices.Contains(mapped, a) {
						t.Errorf("%s %s has no answer for %s", id, name, a)
					}
				}
				continue
			}
			if _, refusal := p.Read(name, []byte(`{}`)); refusal == nil || refusal.Reason != profile.ClassDenied {
				t.Errorf("%s %s: %v", id, name, refusal)
			}
		}
		if _, refusal := p.Read("no_such_tool", []byte(`{}`)); refusal == nil || refusal.Reason != profile.UnknownTool {
			t.Errorf("%s lets an unknown tool through: %v", id, refusal)
		}
	}
	if all != 1687 || writes != 557 {
		t.Errorf("%d tools of which %d write, want 1687 and 557", all, writes)
	}
}
