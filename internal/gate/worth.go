package gate

import (
	"context"

	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Worth values the account as it stands, by the same marks as a decision. Without
// Quotes only an account that holds and orders nothing has a worth.
func (g *Gate) Worth(ctx context.Context) (risk.Worth, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return risk.Worth{}, err
	}
	now := g.now().at
	var marks []rail.Mark
	for i := range g.state.Holdings {
		if g.cfg.Quotes == nil {
			break
		}
		if mark, ok := g.mark(ctx, &g.state.Holdings[i], now); ok {
			marks = append(marks, mark)
		}
	}
	return risk.WorthOf(g.state, marks, now, g.cfg.Calendar), nil
}
