package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// paperRecord reads an account's paper ledger, where one stands beside the journal, as
// the record that its entries are held against. The ledger is read as it is: an audit
// changes nothing.
func paperRecord(ctx context.Context, dir, name string) (*audit.BrokerRecord, error) {
	// The name is what the file says, and stands for a folder.
	if !journal.ValidAccount(name) || name == "." || name == ".." {
		return nil, nil
	}
	folder := ledgerFolder(dir, name)
	if !present(filepath.Join(folder, paper.FileName)) {
		return nil, nil
	}
	ledger, err := paper.OpenReadOnly(ctx, folder)
	if err != nil {
		return nil, unreached("the paper ledger of "+name, err)
	}
	sent, errSent := ledger.Messages(ctx)
	done, errDone := ledger.Executions(ctx)
	if err := errors.Join(errSent, errDone, ledger.Close()); err != nil {
		return nil, unreached("the paper ledger of "+name, err)
	}
	r := &audit.BrokerRecord{Messages: map[string]audit.BrokerMessage{}, Executions: map[string]audit.BrokerExecution{}}
	for i := range sent {
		m := &sent[i]
		if m.Effect == paper.EffectLost {
			continue // it never arrived
		}
		old, known := r.Messages[m.ClientOrderID]
		at := m.DecidedAt
		if known {
			at = old.At
		}
		r.Messages[m.ClientOrderID] = audit.BrokerMessage{At: at, Took: old.Took || m.Effect == paper.EffectTook}
	}
	for _, x := range done {
		r.Executions[x.ID] = audit.BrokerExecution{Quantity: x.Quantity, Price: x.Price}
	}
	return r, nil
}

// againstBroker holds the folded account against the paper ledger, where one stands
// beside the journal. The ledger is read as it is: an audit changes nothing.
func againstBroker(ctx context.Context, dir string, r *audit.AccountReport) (result string, differs []string, err error) {
	folder := ledgerFolder(dir, r.Account)
	if r.State == nil || r.State.Broker != brokerPaper || !present(filepath.Join(folder, paper.FileName)) {
		return brokerNotCompared, nil, nil
	}
	ledger, err := paper.OpenReadOnly(ctx, folder)
	if err != nil {
		return brokerNotCompared, nil, unreached("the paper ledger of "+r.Account, err)
	}
	cash, errCash := ledger.Cash(ctx)
	held, errHeld := ledger.Positions(ctx)
	done, errDone := ledger.Executions(ctx)
	if err := errors.Join(errCash, errHeld, errDone, ledger.Close()); err != nil {
		return brokerNotCompared, nil, unreached("the paper ledger of "+r.Account, err)
	}
	differs = differences(r.State, cash, held)
	switch {
	case len(differs) == 0:
		return brokerSame, nil, nil
	case unseen(r.State, done):
		return brokerBehind, differs, nil
	}
	return brokerDifferent, differs, nil
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// differences are the symbols whose positions are not the same, and cash.
func differences(s *account.State, cash money.Notional, held []journal.Position) []string {
	var out []string
	if s.Cash != cash {
		out = append(out, "cash")
	}
	broker := map[string]money.Quantity{}
	for _, p := range held {
		broker[p.Instrument.Symbol] = p.Quantity
	}
	for i := range s.Holdings {
		symbol := s.Holdings[i].Instrument.Symbol
		if s.Holdings[i].Position != broker[symbol] {
			out = append(out, symbol)
		}
		delete(broker, symbol)
	}
	for symbol, q := range broker {
		if !q.IsZero() {
			out = append(out, symbol)
		}
	}
	slices.Sort(out)
	return out
}

// unseen reports whether the newest execution is one that the journal has not taken.
func unseen(s *account.State, done []paper.Execution) bool {
	return len(done) > 0 && !s.SeenExecution(done[len(done)-1].ID)
}

// paperRecord is the package's, for this journal's folder.
func (d *deck) paperRecord(ctx context.Context, name string) (*audit.BrokerRecord, error) {
	return paperRecord(ctx, d.dir, name)
}
