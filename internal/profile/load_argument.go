package profile

import (
	"slices"

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
	if a.to == "" {
		f.Refuse("to", "is missing", "say what the argument means, or put it under ignore with a reason")
	}
	if a.kind == "" {
		f.Refuse("type", "is missing", "")
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
	// What the server would fill in by itself decides what is sent: it is written out.
	if a.absent == "none" && slices.Contains([]string{"side", "order_type", "time_in_force", "environment"}, a.to) {
		f.Refuse("absent", "leaves open what the server does", "write refuse, or default and the server's default")
	}
	if a.fallback != "" && len(a.words) > 0 && !slices.ContainsFunc(a.words, func(w Word) bool { return w.From == a.fallback }) {
		f.Refuse("default", "is not in the map", "")
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
