package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/scenario"
)

func (a *app) testCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test FILE...", Short: "Run scenario files, and say which expectations fail",
		Long: "Runs each scenario of the files, and of the files in folders, through the real gate,\n" +
			"journal and paper broker under a virtual clock. An expectation that fails is exit code 4.\n" +
			"A scenario asks the shipped limits, or with limits: {over: FILE} a document of yours.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("see "+c.CommandPath()+" --help", "test takes files of scenarios, or folders that hold some")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runScenarios(c.Context(), args) },
	}
}

func (a *app) runScenarios(ctx context.Context, args []string) error {
	failures, err := scenario.Main(ctx, args, a.out.w, a.errs.w, a.flags.json)
	var bad *scenario.LimitsError
	switch {
	case errors.As(err, &bad):
		return &failure{code: exitLimits, err: err}
	case errors.Is(err, scenario.ErrNothing), errors.Is(err, fs.ErrNotExist):
		return &failure{code: exitUsage, err: err, hint: "scenarios to copy stand in the folder examples of the source; examples/my_limits.yaml is one for your own limits"}
	case err != nil:
		return &failure{code: exitFailed, err: err}
	case failures > 0:
		return silently(exitDenied)
	}
	return nil
}
