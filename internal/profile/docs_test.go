package profile

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every word of the language stands in its reference, and the profile there is one.
func TestReferenceHasEveryWord(t *testing.T) {
	b, err := os.ReadFile("../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	stands := strings.FieldsFunc(doc, func(c rune) bool { return strings.ContainsRune(" \n,;:.|`()\\*=\"", c) && c != '.' || c == '\n' })
	for i, w := range stands {
		stands[i] = strings.Trim(w, ".")
	}
	words := slices.Concat(targets(), kinds(), units(), forms(), spellings(), rulesetKeys(), []string{
		"servers", "prefixes", "environment", "value", "words", "read", "reads", "deny", "results", "tools", "id", "broker", "profile", "upstream",
		"to", "type", "map", "default", "absent", "nullable", "unit", "unit_when", "symbol", "sign", "from", "items", "rules", "is_error", "has", "lacks",
		"is", "text_is", "text_prefix", "outcome", "client_id", "token", "status", "filled", "average", "each", "bind", "no_id", "present", "present_any",
		"argument", "idempotent", "form", "list", "match", "issued_by", "in", "max", "page", "fields", "arguments", "structured", "json", "lines", "text", "keep",
		"patch", "full", "uuid", "alnum20", "alnum32", "plain",
	})
	for _, to := range []string{"asset_class", "side", "effect", "order_type", "time_in_force", "session", "order_class", "environment"} {
		words = append(words, canonical(to)...)
	}
	for _, c := range classes() {
		words = append(words, string(c))
	}
	for _, w := range allFigures() {
		known, _ := figureFields(w)
		words = append(append(words, string(w)), known...)
	}
	for _, w := range words {
		if !slices.Contains(stands, w) {
			t.Errorf("the reference does not have the word %s", w)
		}
	}
	_, rest, _ := strings.Cut(doc, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	p, err := Load("docs/profiles.md", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	r := understood(t, p, "new_deal", `{"paper":"US.AAPL","lots":-20,"at":"150","memo":null}`)
	if in, refusal := r.Intent(); refusal != nil || in.Symbol != "AAPL" || in.Quantity.String() != "20" {
		t.Errorf("%v %+v", refusal, in)
	}
	refuses(t, p, "send_money", `{}`, ClassDenied)
}
