package limits

import (
	"slices"
	"strings"
	"testing"
)

// pair is a looser and a tighter value of one key.
func pair(k Key) (loose, tight string) {
	switch {
	case k.Direction == LowerTightens && k.Kind == KindDuration, k.Direction == LowerTightens:
		switch k.Kind {
		case KindDuration:
			return "90s", "1500ms"
		case KindBasisPoints:
			return "90.5", "90.4"
		}
		return "9", "8"
	case k.Direction == HigherTightens && k.Kind == KindDuration:
		return "59s", "1m"
	case k.Direction == HigherTightens:
		return "1.000000001", "1.000000002"
	case k.Direction == FalseTightens:
		return "true", "false"
	case k.Direction == TrueTightens && k.Kind == KindSwitch:
		return "off", "on"
	case k.Direction == TrueTightens:
		return "false", "true"
	case k.Direction == CoarserTightens:
		return "0.05", "0.10"
	case k.Kind == KindTimeWindow:
		return `{from: "09:30", to: "16:00"}`, `{from: "09:31", to: "16:00"}`
	case k.Kind == KindDenialStorm:
		return "{denials: 10, window: 1m}", "{denials: 9, window: 61s}"
	case k.Kind == KindRepeatedExecution:
		return "{cycles: 10, window: 1m}", "{cycles: 10, window: 2m}"
	}
	switch k.Path {
	case "instrument.symbols":
		return "[A, B]", "[B]"
	case "instrument.restricted_symbols":
		return "[A]", "[B, A]"
	case "instrument.asset_classes":
		return "[crypto, us_equity]", "[us_equity]"
	case "instrument.sides":
		return "[sell, buy]", "[sell]"
	case "instrument.order_types":
		return "[limit, stop_limit]", "[]"
	case "instrument.times_in_force":
		return "[day, gtd]", "[gtd]"
	}
	return "", ""
}

// neither is two values of a key that has no direction.
func neither(k Key) (a, b string) {
	switch k.Path {
	case "account":
		return "one", "two"
	case "mode":
		return "paper", "live"
	case "currency":
		return "USD", "EUR"
	}
	return "", ""
}

// only lists keys that have one value in this version.
var only = []string{"version", "calendar", "soft"}

// Every key bites: a change of it, and of nothing else, is seen with its effect,
// changes the fingerprint, and survives the canonical form.
func TestEveryKeyIsCompared(t *testing.T) {
	for _, k := range Keys() {
		if k.Kind == KindOverrides || slices.Contains(only, k.Path) {
			continue
		}
		t.Run(k.Path, func(t *testing.T) {
			if a, b := neither(k); a != "" {
				expectChange(t, k.Path, load(t, with(k.Path, a)), load(t, with(k.Path, b)), Changes)
				return
			}
			l, m := pair(k)
			if l == "" {
				t.Fatal("the test knows no two values of this key")
			}
			loose, tight := load(t, with(k.Path, l)), load(t, with(k.Path, m))
			expectChange(t, k.Path, loose, tight, Tightens)
			expectChange(t, k.Path, tight, loose, Loosens)
			if k.Off && l != "off" {
				off := load(t, with(k.Path, "off"))
				expectChange(t, k.Path, off, loose, Tightens)
				expectChange(t, k.Path, loose, off, Loosens)
				if !slices.Contains(off.Off(), k.Path) || slices.Contains(tight.Off(), k.Path) {
					t.Error("off is not listed, or on is")
				}
			}
		})
	}
}

func expectChange(t *testing.T, path string, before, after *Document, want Effect) {
	t.Helper()
	changes := Diff(before, after)
	if len(changes) != 1 || changes[0].Key != path || changes[0].Effect != want || changes[0].Old == changes[0].New {
		t.Errorf("changes are %v, want %s %v", changes, path, want)
	}
	if before.Fingerprint == after.Fingerprint {
		t.Error("two meanings have one fingerprint")
	}
	for _, d := range []*Document{before, after} {
		again := load(t, string(d.Canonical))
		if again.Fingerprint != d.Fingerprint || len(Diff(d, again)) != 0 {
			t.Errorf("the canonical form says something else: %v", Diff(d, again))
		}
	}
}

func TestEveryKeyMustBeThere(t *testing.T) {
	for _, k := range Keys() {
		e := refusedAt(t, with(k.Path, "-"), k.Path)
		if e.Problem != "is missing" {
			t.Errorf("%s: %v", k.Path, e)
		}
	}
	for _, s := range sections {
		refusedAt(t, text(map[string]string{s: "-"}), s)
	}
}

func TestEveryKeyRefusesWhatItIsNot(t *testing.T) {
	for _, k := range Keys() {
		for _, v := range []string{"", "null", "-1", "'-1'", "{a: b}", "[null]", "[[]]", `"\u202e"`, "''", "!!str x", "1e400"} {
			t.Run(k.Path+"="+v, func(t *testing.T) { refused(t, "limits.yaml", with(k.Path, v)) })
		}
		if k.Off {
			load(t, with(k.Path, "off"))
			load(t, with(k.Path, "'off'"))
		} else {
			refused(t, "limits.yaml", with(k.Path, "off"))
		}
		refused(t, "limits.yaml", with(k.Path, "Off"))
		twice := with(k.Path, k.Shipped+"\n"+strings.Repeat("  ", strings.Count(k.Path, "."))+k.Name()+": "+k.Shipped)
		if e := refusedAt(t, twice, k.Path); e.Problem != "is written twice" {
			t.Error(e)
		}
	}
}

func TestEveryKeyIsSuggested(t *testing.T) {
	for _, k := range Keys() {
		if len(k.Name()) < 4 {
			continue
		}
		bad := strings.Replace(text(nil), k.Name()+":", k.Name()[:len(k.Name())-1]+"#:", 1)
		if k.Section() != "" {
			bad = with(k.Path, "-") + "x: 1\n"
			bad = strings.Replace(bad, k.Section()+":\n", k.Section()+":\n  "+k.Name()+"x: 1\n", 1)
		}
		es := refused(t, "limits.yaml", bad)
		if !slices.ContainsFunc(es, func(e *Error) bool { return e.Hint == "did you mean "+k.Name()+"?" }) {
			t.Errorf("%s is not suggested: %v", k.Path, es)
		}
	}
	e := refused(t, "limits.yaml", text(nil)+"max_order_qty: 5\n")[0]
	if e.Hint != "it belongs at size.max_order_qty" {
		t.Error(e)
	}
}

func TestKeysAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		switch {
		case seen[k.Path]:
			t.Errorf("%s stands twice", k.Path)
		case k.About == "" || strings.Contains(k.About, "\n") || k.Shipped == "" || k.Kind.String() == "":
			t.Errorf("%s is not described", k.Path)
		case k.Direction == DirectionNone && !slices.Contains(only, k.Path) && k.Section() != "":
			t.Errorf("%s has no direction", k.Path)
		case k.Off == (strings.HasPrefix(k.Name(), "allow_") || strings.HasPrefix(k.Name(), "require_")) && k.Section() != "instrument" && k.Section() != "":
			t.Errorf("%s: off is %v", k.Path, k.Off)
		case k.PerSymbol && k.Section() != "size" && k.Section() != "position" && k.Section() != "collar":
			t.Errorf("%s cannot be per symbol", k.Path)
		}
		seen[k.Path] = true
	}
	Keys()[0].Path = "spoiled"
	if Keys()[0].Path != "version" {
		t.Error("a caller can change the table")
	}
}
