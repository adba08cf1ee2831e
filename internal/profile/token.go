package profile

import (
	"crypto/sha256"
	"slices"
	"time"
)

func digest(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// Limits of tokens.
const (
	TokensMax = 256
	// TokenAge is for how long a token can be confirmed. Servers give theirs from one to
	// ten minutes; a judgement of an order older than one is not one of this market.
	TokenAge = time.Minute
)

// Tokens are the confirmation tokens of one upstream session, each bound to the reading
// that was judged when it was issued. The zero value holds none.
type Tokens struct {
	list []token
}

type token struct {
	text   string
	at     time.Time
	issued Reading
	bind   []Word
}

// Issue keeps a token that a reply gave for a reading. A token that is there already is
// dropped with the old one: two readings for one token have none. When a confirmation is
// answered with another question, its token is issued for the reading that was confirmed:
// a confirmation itself has no order, and a token for one is not kept.
func (t *Tokens) Issue(text string, r Reading, bind []Word, now time.Time) {
	if text == "" || r.rules == nil || r.Class == Confirm {
		return
	}
	t.list = slices.DeleteFunc(t.list, func(k token) bool { return now.Sub(k.at) > TokenAge })
	had := len(t.list)
	t.list = slices.DeleteFunc(t.list, func(k token) bool { return k.text == text })
	if len(t.list) < had || len(t.list) >= TokensMax {
		return
	}
	t.list = append(t.list, token{text: text, at: now, issued: r, bind: bind})
}

// Take redeems a token once, whatever comes of it: the reading that it was issued for,
// if the confirmation is of a tool that the profile pairs with it, younger than TokenAge,
// for the same account where the confirmation names one, and with the same bound arguments.
func (t *Tokens) Take(confirm Reading, now time.Time) (Reading, *Refusal) {
	refused := func(problem string) (Reading, *Refusal) {
		return Reading{}, &Refusal{Reason: UnknownToken, Problem: problem}
	}
	i := slices.IndexFunc(t.list, func(k token) bool { return k.text == confirm.Order.Token && k.text != "" })
	if i < 0 {
		return refused("confirms what was not judged here")
	}
	k := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	rs := confirm.rules
	switch {
	case rs == nil || rs.confirm == nil || !slices.Contains(rs.confirm.by, k.issued.Tool):
		return refused("confirms a token of another tool")
	case now.Before(k.at) || now.Sub(k.at) > TokenAge:
		return refused("confirms what was judged too long ago")
	case rs.names("account") && k.issued.Order.Account != confirm.Order.Account:
		return refused("confirms for another account")
	}
	for _, name := range rs.confirm.bind {
		if !slices.ContainsFunc(k.bind, func(w Word) bool { return w.From == name }) {
			return refused("confirms a question whose terms are not known")
		}
	}
	for _, w := range k.bind {
		if at := confirm.arguments.path(w.From); at == nil || string(at.appendTo(nil)) != w.To {
			return refused("confirms with other terms")
		}
	}
	return k.issued, nil
}
