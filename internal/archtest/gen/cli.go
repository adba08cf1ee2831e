package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/cli"
)

// cliPage is the reference of the command line, from the commands themselves.
func cliPage() []byte {
	root := cli.Reference()
	var b bytes.Buffer
	b.WriteString("# Command line\n\n<!-- Generated from the commands by: go run ./internal/archtest/gen -->\n\n")
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(root.Long))
	b.WriteString("\nThese options go with every command:\n\n")
	writeFlags(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		writeCommand(&b, c)
	}
	return b.Bytes()
}

func writeCommand(b *bytes.Buffer, c *cobra.Command) {
	if c.Hidden || !c.IsAvailableCommand() {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	about := strings.TrimSpace(c.Long)
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(b, "```text\n%s\n```\n\n%s\n", c.UseLine(), about)
	if c.Example != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", strings.Trim(c.Example, "\n"))
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString("\n")
		writeFlags(b, c.LocalNonPersistentFlags())
	}
	for _, sub := range c.Commands() {
		writeCommand(b, sub)
	}
}

// usages are the options of a command, as its help shows them.
type usages interface{ FlagUsages() string }

func writeFlags(b *bytes.Buffer, flags usages) {
	fmt.Fprintf(b, "```text\n%s\n```\n", strings.TrimRight(flags.FlagUsages(), "\n"))
}
