package profile

import (
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// Forward returns the arguments that go on: those that were read, with the server's
// defaults spelled out and forced values in place. When id is not empty it stands where
// the profile has our client order id stand, in the form that this server takes; Injected
// tells that id. It is the only way from a call to the upstream server.
func (r *Reading) Forward(id string) []byte {
	if r.arguments == nil {
		return nil
	}
	v := r.arguments.clone()
	if own := r.Injected(id); own != "" {
		c := &call{rules: r.rules, object: v}
		c.write(r.rules.inject.name, text(own))
	}
	return v.appendTo(nil)
}

// Injected returns the id that stands for ours in the arguments; empty when the server
// takes none.
func (r *Reading) Injected(id string) string {
	if id == "" || r.rules == nil || r.rules.inject.name == "" {
		return ""
	}
	return injected(r.rules.inject.form, id)
}

// Idempotent reports whether the server takes one id for one order only.
func (r *Reading) Idempotent() bool { return r.rules != nil && r.rules.inject.idempotent }

// injected writes an id in another form: the head of its SHA-256, so that it can be found
// again from our own id, and two ids do not meet.
func injected(form, id string) string {
	raw := []byte(id)
	sum := digest(raw)
	switch form {
	case "plain":
		if !wellFormed("plain", id) {
			return ""
		}
		return id
	case "uuid":
		h := hex.EncodeToString(sum[:16])
		// Version 8: the bits are ours (RFC 9562).
		return h[:8] + "-" + h[8:12] + "-8" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
	case "alnum20":
		return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:20]
	case "alnum32":
		return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:32]
	}
	return ""
}

// Lookup is a call that asks the upstream server for one order by our id.
type Lookup struct {
	Tool      string
	Arguments []byte
	read      *lookup
	id        string
}

// Lookup returns how this order is asked for; not ok where the profile has no way.
func (r *Reading) Lookup(id string) (Lookup, bool) {
	if r.rules == nil || r.rules.lookup == nil {
		return Lookup{}, false
	}
	l := r.rules.lookup
	own := r.Injected(id)
	args := l.arguments.clone()
	for i, m := range args.members {
		to := m.text
		switch to {
		case "$client_order_id":
			to = own
		case "$order_id":
			to = r.Order.OrderID
		case "$symbol":
			to = r.Order.Symbol
		case "$account":
			to = r.Order.Account
		}
		if to == "" {
			return Lookup{}, false
		}
		if m.kind == '"' {
			args.members[i] = text(to)
		}
	}
	if l.list != "" && own == "" {
		return Lookup{}, false
	}
	return Lookup{Tool: l.tool, Arguments: args.appendTo(nil), read: l, id: own}, true
}

// Found reads the answer to a lookup. known is false when the answer was read and holds
// no order of ours, which proves something only where a list is complete: the caller asks
// more than once, and waits.
func (l Lookup) Found(reply Reply) (p Proof, known bool) {
	if l.read == nil {
		return Proof{Outcome: InDoubt}, false
	}
	if l.read.list == "" {
		p = l.read.result.read(reply)
		if p.ClientID != "" && l.id != "" && p.ClientID != l.id {
			return Proof{Outcome: InDoubt}, false // the answer to another question
		}
		return p, p.Outcome != InDoubt
	}
	v, _, ok := l.read.result.channel(reply)
	if !ok || v == nil || reply.IsError {
		return Proof{Outcome: InDoubt}, false
	}
	items := v.path(l.read.list)
	if l.read.list == "." {
		items = v
	}
	if items == nil || items.kind != '[' {
		return Proof{Outcome: InDoubt}, false
	}
	found := Proof{Outcome: InDoubt}
	for _, m := range items.members {
		if m.word(l.read.match) != l.id {
			continue
		}
		if known { // two orders with one id: neither is taken for ours
			return Proof{Outcome: InDoubt}, false
		}
		found, known = l.read.result.match(m, "", false, false), true
	}
	return found, known
}
