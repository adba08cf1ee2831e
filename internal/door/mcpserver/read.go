package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

// question answers one reading call; its error holds a fault, which names the code.
type question func(ctx context.Context, q normalize.Query) (any, error)

// fault is an error with the code that the caller is told.
type fault struct {
	code  string
	cause error
}

func (f *fault) Error() string { return fmt.Sprintf("%s: %v", f.code, f.cause) }
func (f *fault) Unwrap() error { return f.cause }

func unavailable(cause error) error { return &fault{gate.CodeAccountUnavailable, cause} }
func unreadable(cause error) error  { return &fault{gate.CodeJournalUnavailable, cause} }

// asked makes a tool's body of a question. The query was read by the middleware.
func (s *Server) asked(ask question) mcp.ToolHandler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := callFrom(ctx)
		if c == nil {
			return faultResult(gate.CodeInternalFault, ""), nil
		}
		answer, err := ask(ctx, c.query)
		if err == nil {
			return shown(answer)
		}
		s.log.Error("call not answered", "tool", c.tool, "call", c.id, "error", err)
		code := gate.CodeInternalFault
		var f *fault
		if errors.As(err, &f) {
			code = f.code
		}
		return faultResult(code, ""), nil
	}
}

// view looks at the account.
func (s *Server) view(ctx context.Context, look func(gate.View)) error {
	if err := s.cfg.Gate.View(ctx, look); err != nil {
		return unreadable(err)
	}
	return nil
}

type quoteShown struct {
	Symbol   string `json:"symbol"`
	Known    bool   `json:"known"`
	Bid      string `json:"bid,omitempty"`
	Ask      string `json:"ask,omitempty"`
	Last     string `json:"last,omitempty"`
	Currency string `json:"currency,omitempty"`
	At       string `json:"at,omitempty"`
	AgeMS    int64  `json:"age_ms"`
	Valid    bool   `json:"valid"`
	Halted   bool   `json:"halted"`
	Practice bool   `json:"practice"`
}

func (s *Server) getQuote(ctx context.Context, q normalize.Query) (any, error) {
	if s.cfg.Quotes == nil {
		return nil, unavailable(errNoQuotes)
	}
	var now time.Time
	if err := s.view(ctx, func(v gate.View) { now = v.Now }); err != nil {
		return nil, err
	}
	in, known, err := s.cfg.Quotes.Instrument(ctx, q.Symbol)
	if err != nil {
		return nil, unavailable(err)
	}
	out := quoteShown{Symbol: q.Symbol, Known: known, Practice: s.cfg.Practice}
	if !known {
		return out, nil
	}
	quote, err := s.cfg.Quotes.Quote(ctx, in.Symbol, now)
	if err != nil {
		return nil, unavailable(err)
	}
	if quote.Present {
		out.fill(&quote, now)
	}
	return out, nil
}

func (out *quoteShown) fill(q *market.Quote, now time.Time) {
	if q.HasBid {
		out.Bid = q.Bid.String()
	}
	if q.HasAsk {
		out.Ask = q.Ask.String()
	}
	if q.HasLast {
		out.Last = q.Last.String()
	}
	out.Currency, out.At, out.AgeMS = q.Currency, instant(q.At), q.Age(now).Milliseconds()
	out.Valid, out.Halted = q.Valid(), q.Halted
}

// instant writes a time as every answer does: RFC 3339, UTC.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

type positionShown struct {
	Symbol       string `json:"symbol"`
	Quantity     string `json:"quantity"`
	AveragePrice string `json:"average_price"`
	OpenBuy      string `json:"open_buy"`
	OpenSell     string `json:"open_sell"`
	Realized     string `json:"realized_today"`
}

type positionsShown struct {
	Positions []positionShown `json:"positions"`
	Practice  bool            `json:"practice"`
}

func (s *Server) getPositions(ctx context.Context, _ normalize.Query) (any, error) {
	out := positionsShown{Practice: s.cfg.Practice}
	err := s.view(ctx, func(v gate.View) {
		for i := range v.State.Holdings {
			h := &v.State.Holdings[i]
			out.Positions = append(out.Positions, positionShown{
				Symbol: h.Instrument.Symbol, Quantity: h.Position.String(), AveragePrice: h.Cost.String(),
				OpenBuy: h.OpenBuy.String(), OpenSell: h.OpenSell.String(), Realized: h.Realized.String(),
			})
		}
	})
	return out, err
}

type accountShown struct {
	Account      string `json:"account"`
	Currency     string `json:"currency"`
	Mode         string `json:"mode"`
	Now          string `json:"now"`
	TradeDate    string `json:"trade_date"`
	Session      string `json:"session"`
	Cash         string `json:"cash"`
	Equity       string `json:"equity,omitempty"`
	EquityAtOpen string `json:"equity_at_open,omitempty"`
	Realized     string `json:"realized_today"`
	OpenOrders   int    `json:"open_orders"`
	InDoubt      int    `json:"orders_in_doubt"`
	Practice     bool   `json:"practice"`
}

func (s *Server) getAccount(ctx context.Context, _ normalize.Query) (any, error) {
	out := accountShown{Practice: s.cfg.Practice}
	err := s.view(ctx, func(v gate.View) {
		st, session := v.State, market.Session(v.Now, v.Calendar)
		out.Account, out.Currency, out.Mode, out.Now = st.Account, st.Currency, v.Mode.String(), instant(v.Now)
		out.TradeDate, out.Session, out.Cash = session.TradeDate.String(), session.Kind.String(), st.Cash.String()
		out.OpenOrders, out.InDoubt = st.OpenOrders(), st.InDoubtCount(v.Now)
		day := st.DayAt(v.Now)
		out.Realized = day.Realized.String()
		if day.HasOpen {
			out.EquityAtOpen = day.EquityAtOpen.String()
		}
	})
	if err != nil {
		return out, err
	}
	worth, err := s.cfg.Gate.Worth(ctx)
	if err != nil {
		return out, unreadable(err)
	}
	if worth.EquityOK {
		out.Equity = worth.Equity.String()
	}
	return out, nil
}

type headlinesShown struct {
	Untrusted bool     `json:"untrusted"`
	Headlines []string `json:"headlines"`
	Practice  bool     `json:"practice"`
}

// headlineBytesMax bounds one headline.
const headlineBytesMax = 2048

func (s *Server) marketContext(context.Context, normalize.Query) (any, error) {
	out := headlinesShown{Untrusted: true, Practice: s.cfg.Practice}
	for _, h := range s.cfg.Headlines {
		out.Headlines = append(out.Headlines, journal.BoundText(h, headlineBytesMax))
	}
	return out, nil
}

func (s *Server) readingTools() []tool {
	row := func(name, title, description, input, output string, ask question) tool {
		return tool{
			name: name, title: title, description: description, reach: reads,
			input: input, output: output, body: s.asked(ask),
		}
	}
	return []tool{
		row(normalize.GetQuote, "Quote", "Shows the newest quote of one symbol: bid, ask and last per share, and its age.",
			object(must("symbol", boundedText("Symbol of the instrument, such as AAPL or BRK.B.", 32))), quoteOutput(), s.getQuote),
		row(normalize.GetPositions, "Positions",
			"Shows what the account holds, in shares, and what its open orders could still buy and sell.",
			object(), positionsOutput(), s.getPositions),
		row(normalize.GetAccount, "Account", "Shows cash, mode and the figures of the trade date.",
			object(), accountOutput(), s.getAccount),
		row(normalize.GetOrders, "Orders",
			"Shows the open orders, or those of one status; with order_id one order, open or ended.",
			object(
				may("status", words("Only orders of this status.", normalize.OrderStatuses()...)),
				may("order_id", orderIDField()),
			), ordersOutput(), s.getOrders),
		row(normalize.GetLimits, "Limits",
			"Shows the operator's limits in force, which are off, and each window's use and headroom. Nothing here can be changed by a tool.",
			object(), limitsOutput(), s.getLimits),
		row(normalize.RecentDecisions, "Recent decisions", "Shows the newest decisions and refusals, newest first.",
			object(may("limit", `{"type":"integer","minimum":1,"maximum":100,"description":"How many, 1 to 100; 20 when left out."}`)),
			decisionsOutput(), s.recentDecisions),
	}
}

func quoteOutput() string {
	return object(
		must("symbol", text("The symbol.")), must("known", flag("Whether it is exactly one instrument here.")),
		may("bid", text("Per share.")), may("ask", text("Per share.")), may("last", text("Per share.")),
		may("currency", text("ISO 4217.")), may("at", text("The quote's own time, RFC 3339, UTC.")),
		must("age_ms", whole("Age in milliseconds.")), must("valid", flag("Two-sided, positive and not crossed.")),
		must("halted", flag("Trading is halted.")), must("practice", practiceField()),
	)
}

func positionsOutput() string {
	return object(
		must("positions", list("Instruments with a position or open orders.", object(
			must("symbol", text("The symbol.")), must("quantity", text("Shares; negative is short.")),
			must("average_price", text("Average price of the position, per share.")),
			must("open_buy", text("Shares that open orders can still buy.")),
			must("open_sell", text("Shares that open orders can still sell.")),
			must("realized_today", text("Realized profit of the trade date.")),
		))),
		must("practice", practiceField()),
	)
}

func accountOutput() string {
	return object(
		must("account", text("The account's name.")), must("currency", text("ISO 4217.")),
		must("mode", words("What orders may pass at all.", journal.ModeActive, journal.ModeReduceOnly, journal.ModeHalted)),
		must("now", text("The instant that orders are judged by, RFC 3339, UTC.")),
		must("trade_date", text("The exchange's trade date.")), must("session", text("The exchange's session.")),
		must("cash", text("Ledger cash.")),
		may("equity", text("Cash and positions, longs at bid, shorts at ask; left out while one has no recent quote.")), may("equity_at_open", text("Equity at the open of the trade date.")),
		must("realized_today", text("Realized profit of the trade date.")),
		must("open_orders", whole("How many orders are open.")), must("orders_in_doubt", whole("How many of them are in doubt.")),
		must("practice", practiceField()),
	)
}
