package profile

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/strict"
)

func kindOfFlag(text string) jsontext.Kind {
	if text == "true" {
		return 't'
	}
	return 'f'
}

// argument reads what one argument says.
func (r *loader) argument(p strict.Pair, path string) argument {
	f := r.Fields(p.Value, path, "to", "type", "map", "default", "absent", "nullable", "unit", "unit_when", "symbol", "id", "sign")
	a := argument{
		name: p.Key, to: f.Word("to", targets()...), kind: f.Word("type", kinds()...),
		fallback: f.Text("default"), absent: f.Word("absent", "refuse", "default", "keep", "none"), nullable: f.Flag("nullable"),
		unit: f.Word("unit", units()...), spelling: f.Texts("symbol", 8), id: f.Word("id", forms()...), sign: f.Flag("sign"),
	}
	if f.At("to") == nil {
		f.Refuse("to", "is missing", "say what the argument means, or put it under ignore with a reason")
	}
	if f.At("type") == nil {
		f.Refuse("type", "is missing", "known are "+strings.Join(kinds(), ", "))
	}
	if a.to == "" || a.kind == "" {
		return a // what else there is to say hangs on them
	}
	known := canonical(a.to)
	a.words = r.words(f, "map", known)
	for _, t := range f.Items("unit_when", 8) {
		g := r.Fields(t, path+".unit_when", "if", "unit")
		a.units = append(a.units, unitRule{r.condition(g, "if"), g.Word("unit", units()...)})
	}
	for _, s := range a.spelling {
		if !slices.Contains(spellings(), s) {
			f.Refuse("symbol", strict.Printable(s)+" is not a spelling that is known", "")
		}
	}
	r.argumentWhole(f, &a, known)
	return a
}

func (r *loader) argumentWhole(f strict.Fields, a *argument, known []string) {
	switch {
	case known != nil && len(a.words) == 0 && a.kind != "flag":
		f.Refuse("map", "is missing", "list the words that the server takes")
	case a.to == "symbol" && len(a.spelling) == 0:
		f.Refuse("symbol", "is missing", "name the spellings that may stand here")
	case (a.to == "order_id" || a.to == "token") && a.id == "":
		f.Refuse("id", "is missing", "an id without a form could be a path or a query")
	case a.sign && a.to != "quantity":
		f.Refuse("sign", "is for a quantity", "")
	}
	if a.absent == "" {
		a.absent = "refuse"
	}
	if (a.absent == "default") != (a.fallback != "") {
		f.Refuse("default", "goes with absent: default", "")
	}
	a.wholeUnit(f)
	if a.fallback != "" && len(a.words) > 0 && !slices.ContainsFunc(a.words, func(w Word) bool { return w.From == a.fallback }) {
		f.Refuse("default", "is not in the map", "")
	}
}

// wholeUnit wants a unit where figures could be of several, and one that fits.
func (a *argument) wholeUnit(f strict.Fields) {
	known := []string(nil)
	switch a.to {
	case "quantity", "target":
		known = []string{"shares", "contracts", "units", "base", "quote"}
	case "notional":
		known = []string{"quote", "USD"}
	case "percent", "trail_percent":
		known = []string{"percent"}
	}
	given := []string{a.unit}
	for i := range a.units {
		given = append(given, a.units[i].unit)
	}
	for i, unit := range given {
		switch {
		case unit == "" && i == 0 && (known == nil || len(a.units) > 0 || len(a.words) > 0):
		case unit == "" && known != nil:
			f.Refuse("unit", "is missing", "known for "+a.to+" are "+strings.Join(known, ", "))
		case !slices.Contains(known, unit):
			f.Refuse("unit", "does not fit "+a.to, "known for it are "+strings.Join(known, ", "))
		}
	}
}

func units() []string {
	return []string{"shares", "contracts", "units", "base", "quote", "USD", "percent"}
}

// forms are the shapes that an id may have. None holds a slash, a dot alone, a question
// mark, an ampersand or a percent sign: upstream servers build addresses of them.
func forms() []string { return []string{"uuid", "digits", "plain", "hex"} }

func wellFormed(form, s string) bool {
	all := func(most int, ok func(c byte) bool) bool {
		if len(s) == 0 || len(s) > most {
			return false
		}
		for i := range len(s) {
			if !ok(s[i]) {
				return false
			}
		}
		return true
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	hex := func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
	switch form {
	case "uuid":
		return isUUID(s)
	case "digits":
		return all(24, digit)
	case "hex":
		return all(64, hex)
	case "plain":
		// A dash at the head would be an option where a server starts a command.
		return s[:min(len(s), 1)] != "-" && all(128, func(c byte) bool {
			return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
		})
	}
	return false
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

func reasons() []string {
	return []string{
		string(MissingNotional), string(MissingQuantity), string(MissingPrice), string(MissingArgument), string(MissingLegField),
		string(MissingSide), string(NotionalWithLimit), string(LeverageSize), string(VariantAmbiguous), string(ForbiddenArgument),
		string(InconsistentPrice), string(ExclusiveArgs), string(StandingOrder), string(EnvNotPinned), string(Enum),
		string(NotJudged), string(AssetClassMismatch), string(TypeMismatch),
	}
}
