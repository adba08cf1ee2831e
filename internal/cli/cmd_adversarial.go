package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/adversary"
	"github.com/broker-rails/broker-rails/internal/limits"
)

// exampleCase is played by the script of the command, so that it stays true; a test holds the two together.
const exampleCase = `  - channel: direct                    # or protocol, injection
    name: a small account that is bet on one order
    why: what would go wrong if it passed
    limits: {size: {max_order_qty: 5}} # laid over the shipped document
    before:                            # every call must pass
      - order: {quantity: "2"}         # the rest: AAPL, buy, limit 200.02, day
    attack:
      - order: {quantity: "6"}
        expect: [max_order_qty]        # exactly these refuse
      - advance: 61s                   # also: quote, mode, broker, external, read, call, raw
      - order: {quantity: "5", limit_price: "200.20"}
        repeat: 12
        price_by: "0.01"               # each lower than the last
        allowed: 10                    # then the rest is refused
        expect: [max_orders_per_minute]
    world: {fills: 10, shares: {AAPL: "50"}} # at the broker, of the attack's own orders
    twin:
      - order: {quantity: "5"}`

func (a *app) adversarialCommand() *cobra.Command {
	var dir, transport string
	c := &cobra.Command{
		Use: "adversarial", Short: "Attack a server of its own, and say whether each attack fails for the right reason", Args: none,
		Long: "Plays the attacks that come with the product, and those of --cases, each against an\n" +
			"installation of its own in memory: an MCP client session, the real server, gate and\n" +
			"journal, and the paper broker under a virtual clock. No account of yours is touched,\n" +
			"and the limits are the shipped ones with what a case lays over them.\n\n" +
			"Each case names the exact rails that must refuse. Refused by another, by one more, by a\n" +
			"fault, or a benign twin that is refused: a violation, and exit code 4.\n\n" +
			"A case of yours, in a list in a file of the folder:\n\n" + exampleCase,
		RunE: func(c *cobra.Command, _ []string) error { return a.adversarial(c.Context(), dir, transport) },
	}
	c.Flags().StringVar(&dir, "cases", "", "folder with cases of yours (*.yaml), played after the shipped ones")
	c.Flags().StringVar(&transport, "transport", transportStdio, "stdio, or streamable-http on a loopback port; messages as bytes go over stdio in either case")
	return c
}

func (a *app) adversarial(ctx context.Context, dir, transport string) error {
	if transport != transportStdio && transport != transportHTTP {
		return usage("see rails adversarial --help", "--transport is stdio or streamable-http")
	}
	cases, err := adversary.Shipped()
	if err != nil {
		return err
	}
	if dir != "" {
		own, err := adversary.FromFolder(dir)
		if err == nil {
			cases = append(cases, own...)
			err = adversary.Distinct(cases)
		}
		if err != nil {
			return badCases(err)
		}
	}
	violated, err := adversary.Main(ctx, cases, adversary.Options{
		Version: version, Headlines: headlines(), HTTP: transport == transportHTTP,
	}, a.out.w, a.flags.json)
	switch {
	case err != nil:
		return &failure{code: exitFailed, what: "adversarial", err: err}
	case violated > 0:
		return silently(exitDenied)
	}
	return nil
}

// badCases is what is wrong with an operator's cases: never the limits' exit code.
func badCases(err error) error {
	const hint = "a case has channel, name, why, attack and twin; see rails adversarial --help"
	var problems limits.Errors
	if errors.As(err, &problems) || errors.Is(err, fs.ErrNotExist) {
		return &failure{code: exitUsage, err: err, hint: hint}
	}
	return &failure{code: exitUsage, err: err}
}
