package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// Limits of one mapping's free keys, such as symbols, and of one list.
const (
	entriesMax = 10_000
	itemsMax   = 10_000
)

// reader is the strict reader and the words of scenarios. Nothing is run unless it has no
// problem.
type reader struct{ strict.Reader }

func newReader(name string) *reader {
	return &reader{strict.Reader{Problems: strict.Problems{Name: name}}}
}

// duration takes a duration such as 61s, 1h30m, -8h or 2d; days are of 24 hours.
func (r *reader) duration(t *strict.Tree, path string) time.Duration {
	return strict.Parse(&r.Reader, t, path, parseDuration, "is not a duration", "such as 61s, 1h30m or 2d")
}

func parseDuration(text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > -10_000 && n < 10_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	return time.ParseDuration(text)
}

func (r *reader) price(t *strict.Tree, path string) money.Price {
	return figure(r, t, path, money.ParsePrice)
}

func (r *reader) quantity(t *strict.Tree, path string) money.Quantity {
	return figure(r, t, path, money.ParseQuantity)
}

func (r *reader) notional(t *strict.Tree, path string) money.Notional {
	return figure(r, t, path, money.ParseNotional)
}

func figure[T any](r *reader, t *strict.Tree, path string, parse func(string) (T, error)) T {
	return strict.Parse(&r.Reader, t, path, parse, "is not a plain decimal", `such as 12.50, or "12.50"`)
}

// refusal takes the id of a rail or of an integrity refusal. There are too many for a hint
// to list.
func (r *reader) refusal(t *strict.Tree, path string) string {
	id, known := r.Plain(t, path), refusalIDs()
	if id == "" || slices.Contains(known, id) {
		return id
	}
	hint := "docs/rails.md lists the ids of rails; rails decisions and rails test show those of refusals"
	if near := strict.Nearest(id, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.Refuse(t, path, strconv.Quote(strict.Printable(id))+" is not known", hint)
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
