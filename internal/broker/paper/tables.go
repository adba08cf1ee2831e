package paper

// schema of a ledger. Figures are decimal text, instants nanoseconds since 1970 in UTC
// (0 for none), enumerations the words of the order package. Numbers are given by the
// counts in meta, so that they have no holes.
const schema = `
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seed TEXT NOT NULL, start_cash TEXT NOT NULL, origin_wall INTEGER NOT NULL, origin_market INTEGER NOT NULL,
  cash TEXT NOT NULL, evaluated INTEGER NOT NULL,
  order_count INTEGER NOT NULL, execution_count INTEGER NOT NULL, event_count INTEGER NOT NULL,
  message_count INTEGER NOT NULL, fault_count INTEGER NOT NULL,
  close_date INTEGER NOT NULL, close_equity TEXT
) STRICT;
CREATE TABLE orders (
  n INTEGER PRIMARY KEY, broker_id TEXT NOT NULL UNIQUE, client_order_id TEXT UNIQUE,
  instrument TEXT NOT NULL, side TEXT NOT NULL, order_type TEXT NOT NULL, time_in_force TEXT NOT NULL,
  quantity TEXT NOT NULL, filled TEXT NOT NULL, limit_price TEXT NOT NULL, stop_price TEXT NOT NULL,
  hold_price TEXT NOT NULL, extended_hours INTEGER NOT NULL, triggered INTEGER NOT NULL,
  expire_at INTEGER NOT NULL, placed_at INTEGER NOT NULL, state TEXT NOT NULL,
  duplicate_next INTEGER NOT NULL, late_at INTEGER NOT NULL, late_price TEXT NOT NULL,
  live INTEGER NOT NULL
) STRICT;
CREATE INDEX orders_live ON orders (n) WHERE live = 1;
CREATE TABLE executions (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, broker_id TEXT NOT NULL, client_order_id TEXT NOT NULL,
  symbol TEXT NOT NULL, side TEXT NOT NULL, quantity TEXT NOT NULL, price TEXT NOT NULL,
  cash TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX executions_order ON executions (broker_id, n);
CREATE TABLE positions (
  symbol TEXT PRIMARY KEY, instrument TEXT NOT NULL, quantity TEXT NOT NULL, cost TEXT NOT NULL
) STRICT;
CREATE TABLE events (n INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE messages (
  n INTEGER PRIMARY KEY, at INTEGER NOT NULL, decided_at INTEGER NOT NULL, action TEXT NOT NULL,
  client_order_id TEXT NOT NULL, broker_id TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL,
  quantity TEXT NOT NULL, limit_price TEXT NOT NULL, effect TEXT NOT NULL, reason TEXT NOT NULL
) STRICT;
CREATE INDEX messages_client ON messages (client_order_id, n);
CREATE TABLE faults (
  n INTEGER PRIMARY KEY, kind INTEGER NOT NULL, action INTEGER NOT NULL, delay_ns INTEGER NOT NULL
) STRICT;
`

const (
	orderColumns = `n, broker_id, client_order_id, instrument, side, order_type, time_in_force, quantity, filled,
  limit_price, stop_price, hold_price, extended_hours, triggered, expire_at, placed_at, state, duplicate_next,
  late_at, late_price`
	executionColumns = `n, id, broker_id, client_order_id, symbol, side, quantity, price, cash, at`
	messageColumns   = `n, at, decided_at, action, client_order_id, broker_id, symbol, side, quantity, limit_price, effect, reason`
	metaColumns      = `seed, start_cash, origin_wall, origin_market, cash, evaluated, order_count, execution_count,
  event_count, message_count, fault_count, close_date, close_equity`
)
