package account

import (
	"crypto/sha256"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// idKey stands for an id: the first half of the SHA-256 of its kind and text. Agents
// choose their ids; two that share a key would be taken for one and refused.
type idKey [16]byte

// Kinds of ids that are kept in one set.
const (
	executionKind = 'x'
	eventKind     = 'e'
	clientKind    = 'c'
)

func keyOf(kind byte, text string) idKey {
	var buf [128]byte
	sum := sha256.Sum256(append(append(buf[:0], kind), text...))
	return idKey(sum[:16])
}

// idSet remembers ids. The maps are only ever asked for one key; the slices hold the
// order in which keys came, for forgetting and for writing down.
type idSet struct {
	clients     map[idKey]clientRecord
	clientOrder []agedKey
	seen        map[idKey]struct{}
	seenOrder   []agedKey
	mixed       idKey  // exclusive or of all keys
	behind      *idSet // of the state that this is a fork of; only read
}

type clientRecord struct {
	seq    uint64 // of the decision
	digest [16]byte
}

type agedKey struct {
	key  idKey
	date market.TradeDate // when it came
}

func (ids *idSet) toggle(key idKey) {
	for i := range key {
		ids.mixed[i] ^= key[i]
	}
}

func (ids *idSet) addClient(key idKey, rec clientRecord, date market.TradeDate) {
	if ids.clients == nil {
		ids.clients = make(map[idKey]clientRecord)
	}
	ids.clients[key] = rec
	ids.clientOrder = append(ids.clientOrder, agedKey{key, date})
	ids.toggle(key)
}

func (ids *idSet) addSeen(key idKey, date market.TradeDate) {
	if ids.seen == nil {
		ids.seen = make(map[idKey]struct{})
	}
	ids.seen[key] = struct{}{}
	ids.seenOrder = append(ids.seenOrder, agedKey{key, date})
	ids.toggle(key)
}

func (ids *idSet) has(key idKey) bool {
	_, known := ids.seen[key]
	return known || ids.behind != nil && ids.behind.has(key)
}

func (ids *idSet) client(key idKey) (clientRecord, bool) {
	rec, known := ids.clients[key]
	if !known && ids.behind != nil {
		return ids.behind.client(key)
	}
	return rec, known
}

// forget drops ids that came before the date.
func (ids *idSet) forget(before market.TradeDate) {
	n := aged(ids.clientOrder, before)
	for _, k := range ids.clientOrder[:n] {
		delete(ids.clients, k.key)
		ids.toggle(k.key)
	}
	ids.clientOrder = dropFront(ids.clientOrder, n)
	n = aged(ids.seenOrder, before)
	for _, k := range ids.seenOrder[:n] {
		delete(ids.seen, k.key)
		ids.toggle(k.key)
	}
	ids.seenOrder = dropFront(ids.seenOrder, n)
}

func aged(keys []agedKey, before market.TradeDate) int {
	n := 0
	for n < len(keys) && keys[n].date < before {
		n++
	}
	return n
}

// dropFront moves the rest down, so that what was dropped can be freed.
func dropFront[T any](s []T, n int) []T {
	if n == 0 {
		return s
	}
	kept := copy(s, s[n:])
	clear(s[kept:])
	return s[:kept]
}

// ClientID looks the agent's own client order id up among the allowed orders of the
// last IDsKeptDays. digest is the IntentDigest of the order that used it.
func (s *State) ClientID(id string) (orderID string, digest [16]byte, known bool) {
	if id == "" {
		return "", digest, false
	}
	rec, known := s.ids.client(keyOf(clientKind, id))
	if !known {
		return "", digest, false
	}
	return s.orderID(rec.seq), rec.digest, true
}

// SeenExecution reports whether the fill with this execution id was applied.
func (s *State) SeenExecution(id string) bool { return s.ids.has(keyOf(executionKind, id)) }

// SeenEvent reports whether the external event with this source id was applied.
func (s *State) SeenEvent(id string) bool { return s.ids.has(keyOf(eventKind, id)) }

// OrderIDFor returns the id of the order, open or lately ended, that was sent to the
// broker under the derived client order id.
func (s *State) OrderIDFor(clientOrderID string) (orderID string, known bool) {
	if clientOrderID == "" {
		return "", false
	}
	for i := len(s.Orders) - 1; i >= 0; i-- {
		if s.Orders[i].ClientOrderID == clientOrderID {
			return s.Orders[i].ID, true
		}
	}
	for i := len(s.side.ended) - 1; i >= 0; i-- {
		if s.side.ended[i].clientOrderID == clientOrderID {
			return s.orderID(s.side.ended[i].seq), true
		}
	}
	return "", false
}

// orderID is the id of the order that a decision made.
func (s *State) orderID(seq uint64) string {
	return s.Account + "/" + strconv.FormatUint(seq, 10)
}

// IntentDigest is the first half of the SHA-256 over everything in an intent but the
// agent's own id: two intents with one digest ask for the same order.
func IntentDigest(in *order.Intent) [16]byte {
	var buf [512]byte
	w := wire{b: buf[:0]}
	action, side, kind, tif := uint8(in.Action), uint8(in.Side), uint8(in.Type), uint8(in.TimeInForce)
	account, symbol, target := in.Account, in.Symbol, in.Target
	quantity, limit, stop := in.Quantity, in.LimitPrice, in.StopPrice
	expire, extended := in.ExpireAt, in.ExtendedHours
	w.u8(&action)
	w.text(&account)
	w.text(&symbol)
	w.text(&target)
	w.u8(&side)
	w.u8(&kind)
	w.u8(&tif)
	w.quantity(&quantity)
	w.price(&limit)
	w.price(&stop)
	w.instant(&expire)
	w.flag(&extended)
	sum := sha256.Sum256(w.b)
	return [16]byte(sum[:16])
}
