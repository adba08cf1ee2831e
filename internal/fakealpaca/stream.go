package fakealpaca

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
)

// stream is one client of trade_updates. Its goroutines end with its connection, and
// with the broker's Close.
type stream struct {
	conn   *websocket.Conn
	queue  chan []byte
	end    context.CancelFunc
	listen bool // guarded by the broker's lock
	mute   bool // says nothing more
}

type streamMessage struct {
	Action string `json:"action"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
	Data   struct {
		Streams   []string `json:"streams"`
		KeyID     string   `json:"key_id"`
		SecretKey string   `json:"secret_key"`
	} `json:"data"`
}

// stream serves one client: authentication, then what it listens to. There is no replay.
func (b *Broker) stream(w http.ResponseWriter, r *http.Request) {
	s := &stream{queue: make(chan []byte, StreamQueueMax)}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled, OnPingReceived: func(context.Context, []byte) bool { return !b.muted(s) },
	})
	if err != nil {
		return // the client was told
	}
	conn.SetReadLimit(BodyBytesMax)
	ctx, end := context.WithCancel(r.Context())
	s.conn, s.end = conn, end
	defer b.forget(s)
	if !b.admit(ctx, s) {
		_ = conn.Close(websocket.StatusPolicyViolation, "not authenticated")
		return
	}
	go b.send(ctx, s)
	for {
		m, ok := b.read(ctx, s)
		if !ok {
			return
		}
		if m.Action != "listen" {
			continue
		}
		b.mu.Lock()
		s.listen = slices.Contains(m.Data.Streams, "trade_updates")
		b.push(s, object{"stream": "listening", "data": object{"streams": m.Data.Streams}})
		b.mu.Unlock()
	}
}

// muted reports whether a fault keeps the stream from saying anything.
func (b *Broker) muted(s *stream) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return s.mute
}

func (b *Broker) read(ctx context.Context, s *stream) (m streamMessage, ok bool) {
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			return m, false
		}
		m = streamMessage{}
		if json.Unmarshal(text, &m) == nil {
			return m, true
		}
	}
}

func (b *Broker) admit(ctx context.Context, s *stream) bool {
	m, ok := b.read(ctx, s)
	key, secret := m.Key, m.Secret
	if key == "" {
		key, secret = m.Data.KeyID, m.Data.SecretKey
	}
	if !ok || m.Action != "auth" && m.Action != "authenticate" || !b.known(key, secret) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return false
	}
	b.streams[s] = struct{}{}
	b.push(s, object{"stream": "authorization", "data": object{"status": "authorized", "action": "authenticate"}})
	return true
}

func (b *Broker) forget(s *stream) {
	b.mu.Lock()
	delete(b.streams, s)
	b.mu.Unlock()
	s.end()
	_ = s.conn.CloseNow()
}

// send writes what is queued, until the stream ends.
func (b *Broker) send(ctx context.Context, s *stream) {
	kind := websocket.MessageText
	if b.options.Binary {
		kind = websocket.MessageBinary
	}
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-s.queue:
			if s.conn.Write(ctx, kind, text) != nil {
				s.end()
				return
			}
		}
	}
}

// push queues a message; a client that does not read is cut off. The lock is held.
func (b *Broker) push(s *stream, message object) {
	if s.mute {
		return
	}
	select {
	case s.queue <- []byte(encoded(message)):
	default:
		s.end()
	}
}

// tell sends an event to all who listen, with the faults that are due. The lock is held.
func (b *Broker) tell(e event) {
	if f := b.due(e.Kind, "stream_close", "stream_cut", "stream_half_open"); f != nil {
		b.hangUp(f.Kind)
	}
	switch f := b.due(e.Kind, "event_lost", "event_twice", "event_late", "event_unknown"); {
	case f == nil:
		b.broadcast(e)
	case f.Kind == "event_lost":
		return
	case f.Kind == "event_twice":
		b.broadcast(e)
		b.broadcast(e)
	case f.Kind == "event_late":
		b.hidden = append(b.hidden, e)
		return
	case f.Kind == "event_unknown":
		odd := e
		odd.Kind = "levitated"
		b.broadcast(odd)
		b.broadcast(e)
	}
	late := b.hidden
	b.hidden = nil
	for _, e := range late {
		b.broadcast(e)
	}
}

func (b *Broker) broadcast(e event) {
	data := object{"event": e.Kind, "order": orderObject(&e.Order), "timestamp": stamp(e.At), "event_id": b.book.id("event"), "at": stamp(e.At)}
	if e.Fill != nil {
		data["execution_id"], data["price"], data["qty"], data["position_qty"] = e.Fill.ID, e.Fill.Price.String(), e.Fill.Quantity.String(), e.Held.String()
	}
	for s := range b.streams {
		if s.listen {
			b.push(s, object{"stream": "trade_updates", "data": data})
		}
	}
}

// hangUp ends or silences every stream. The lock is held.
func (b *Broker) hangUp(how string) {
	for s := range b.streams {
		switch how {
		case "stream_half_open":
			s.mute = true
		case "stream_close":
			go func() { _ = s.conn.Close(websocket.StatusGoingAway, "restarting") }()
		default:
			s.end()
			_ = s.conn.CloseNow()
		}
	}
}

// HangUp ends or silences every stream: stream_close, stream_cut or stream_half_open.
func (b *Broker) HangUp(how string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hangUp(how)
}

// Streams returns how many clients listen.
func (b *Broker) Streams() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		if s.listen && !s.mute {
			n++
		}
	}
	return n
}

// Close ends all streams and takes no new ones.
func (b *Broker) Close() {
	b.mu.Lock()
	b.shut = true
	b.hangUp("stream_cut")
	b.mu.Unlock()
	const patience = 2 * time.Second
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		b.mu.Lock()
		left := len(b.streams)
		b.mu.Unlock()
		if left == 0 {
			return
		}
	}
}
