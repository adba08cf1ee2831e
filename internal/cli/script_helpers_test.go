package cli_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// jsonHas reads one JSON document, strictly, and holds values in it against what is
// wanted:
//
//	jsonhas FILE path=value …
//
// A path is names and indices with dots between; a path alone must only be there, and
// len(path) is the length of a list.
func jsonHas(args []string) int {
	text, err := os.ReadFile(args[0])
	var doc any
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "jsonhas:", err)
		return 1
	}
	for _, want := range args[1:] {
		path, value, exact := strings.Cut(want, "=")
		list, length := strings.CutPrefix(path, "len(")
		got, ok := lookup(doc, strings.TrimSuffix(list, ")"))
		if length {
			items, isList := got.([]any)
			got, ok = len(items), ok && isList
		}
		if !ok || exact && fmt.Sprint(got) != value {
			fmt.Fprintf(os.Stderr, "jsonhas: %s is %v (there: %v), want %s\n%s\n", path, got, ok, value, text)
			return 1
		}
	}
	return 0
}

func lookup(doc any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			value, ok := at[name]
			if !ok {
				return nil, false
			}
			doc = value
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			doc = at[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// paperHas asks the broker's own ledger, the oracle, what it holds:
//
//	paperhas FOLDER messages=N executions=N open=N
func paperHas(args []string) int {
	ctx := context.Background()
	ledger, err := paper.OpenFile(ctx, args[0], paper.Start{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "paperhas:", err)
		return 2
	}
	defer ledger.Close()
	for _, want := range args[1:] {
		name, value, _ := strings.Cut(want, "=")
		got, err := paperFigure(ctx, ledger, name, value)
		if err != nil || got != value {
			fmt.Fprintf(os.Stderr, "paperhas: %s is %s, want %s (%v)\n", name, got, value, err)
			return 1
		}
	}
	return 0
}

func paperFigure(ctx context.Context, ledger *paper.Ledger, name, value string) (string, error) {
	switch name {
	case "messages":
		list, err := ledger.Messages(ctx)
		return strconv.Itoa(len(list)), err
	case "executions":
		list, err := ledger.Executions(ctx)
		return strconv.Itoa(len(list)), err
	case "open":
		list, err := ledger.Orders(ctx)
		n := 0
		for _, o := range list {
			if o.State == paper.Open {
				n++
			}
		}
		return strconv.Itoa(n), err
	}
	return "", fmt.Errorf("no figure %s", name)
}

// paperDo makes things happen at the broker that no gate did:
//
//	paperdo FOLDER fault=timeout|timeout_after|reject cash=AMOUNT
//
// A fault waits for the next message.
func paperDo(args []string) int {
	ctx := context.Background()
	broker, err := openPaper(ctx, args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "paperdo:", err)
		return 2
	}
	defer broker.Close()
	for _, act := range args[1:] {
		name, value, _ := strings.Cut(act, "=")
		switch name {
		case "fault":
			kind := map[string]paper.FaultKind{
				"reject": paper.FaultReject, "timeout": paper.FaultTimeout, "timeout_after": paper.FaultTimeoutAfter,
			}[value]
			err = broker.Inject(ctx, paper.Fault{Kind: kind})
		case "cash":
			err = broker.Cash(ctx, money.MustNotional(value), "by hand")
		default:
			err = fmt.Errorf("no act %s", name)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "paperdo:", err)
			return 1
		}
	}
	return 0
}

func openPaper(ctx context.Context, folder string) (*paper.Broker, error) {
	ledger, err := paper.OpenFile(ctx, folder, paper.Start{})
	if err != nil {
		return nil, err
	}
	start, calendar := ledger.Start(), market.XNYS()
	practice, err := clock.NewPractice(clock.NewSystem(), calendar, clock.Origin{Wall: start.Wall, Market: start.Market})
	if err != nil {
		return nil, err
	}
	return paper.New(ledger, paper.Options{Clock: practice, Quotes: quotes.NewPaper(start.Seed, calendar), Calendar: calendar})
}
