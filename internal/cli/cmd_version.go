package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// version of the product. It stands in every genesis and recovery entry.
const version = "0.1.0"

type versionView struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Engine  string `json:"engine"`
	Journal int    `json:"journal_schema"`
	Commit  string `json:"commit,omitzero"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of product, rules and journal", Args: none,
		RunE: func(*cobra.Command, []string) error {
			v := versionView{
				Schema: "rails.version/v1", Version: version, Engine: risk.Engine, Journal: journal.SchemaVersion,
				Commit: commit(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
			}
			if a.flags.json {
				return a.out.json(v)
			}
			a.out.line("rails ", v.Version, a.out.dim(strings.TrimRight("  rules "+v.Engine+"  "+v.Go+"  "+v.System+"  "+v.Commit, " ")))
			return nil
		},
	}
}

// commit is the source's commit, as the build recorded it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
