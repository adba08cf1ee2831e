package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/adversary"
	"github.com/broker-rails/broker-rails/internal/limits"
)

func (a *app) adversarialCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "adversarial", Short: "Attack a server of its own, and say whether each attack fails for the right reason", Args: none,
		Long: "Plays the attacks that come with the product, and those of --cases, each against an\n" +
			"installation of its own in memory: an MCP client session, the real server, gate and\n" +
			"journal, and the paper broker under a virtual clock. No account of yours is touched,\n" +
			"and the limits are the shipped ones with what a case lays over them.\n\n" +
			"Each case names the exact rails that must refuse. Refused by another, by one more, by a\n" +
			"fault, or a benign twin that is refused: a violation, and exit code 4.",
		RunE: func(c *cobra.Command, _ []string) error { return a.adversarial(c.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "cases", "", "folder with cases of yours (*.yaml), played after the shipped ones")
	return c
}

func (a *app) adversarial(ctx context.Context, dir string) error {
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
	violated, err := adversary.Main(ctx, cases, adversary.Options{Version: version, Headlines: headlines()}, a.out.w, a.flags.json)
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
	const hint = "a case has channel, name, why, attack and twin; see docs/operating.md"
	var problems limits.Errors
	if errors.As(err, &problems) || errors.Is(err, fs.ErrNotExist) {
		return &failure{code: exitUsage, err: err, hint: hint}
	}
	return &failure{code: exitUsage, err: err}
}
