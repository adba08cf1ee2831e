// Command rails is a deterministic gate between AI agents and a broker account.
package main

import (
	"os"

	"github.com/broker-rails/broker-rails/internal/cli"
)

func main() { os.Exit(cli.Main(cli.Process())) }
