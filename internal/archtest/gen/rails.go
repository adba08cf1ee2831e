package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/broker-rails/broker-rails/internal/archtest"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/rail"
)

const railsIntro = `# Rails

<!-- Generated from the comments in internal/rail by: go run ./internal/archtest/gen -->

A rail is one check that every order goes through. All %d run on every order, none hides
another, and the answer names each one that denies. A rail that lacks an input it needs
does not pass the order: it answers with a fault, and a fault refuses too. A cancel is
only held to ` + "`max_messages_per_minute`" + `.

"Off" says how an operator takes a rail out: by the word ` + "`off`" + `, by the value of a switch,
or not at all. "Reducing" says what an order meets that only takes risk out: it is judged
like any other, it passes, or it has figures of its own.

`

// railsPage is the page of all rails.
func railsPage(root string) ([]byte, error) {
	docs, err := archtest.RailDocs(root)
	if err != nil {
		return nil, err
	}
	keys := map[string]limits.Key{}
	for _, k := range limits.Keys() {
		keys[k.Path] = k
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, railsIntro, len(docs))
	b.WriteString("| rail | key of the limits document | off | reducing |\n| --- | --- | --- | --- |\n")
	for _, d := range docs {
		fmt.Fprintf(&b, "| [%s](#%[1]s) | %s | %s | %s |\n", d.ID, keyList(d.Keys), offBy(d.ID, d.Keys, keys), reducing(d.Exempt))
	}
	family := ""
	for _, d := range docs {
		if d.Family != family {
			family = d.Family
			fmt.Fprintf(&b, "\n## %s\n", title(family))
		}
		writeRail(&b, &d, keys)
	}
	return b.Bytes(), nil
}

func writeRail(b *bytes.Buffer, d *archtest.RailDoc, keys map[string]limits.Key) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n%s\n\n", d.ID, title(d.Summary), d.Text)
	for _, path := range d.Keys {
		k := keys[path]
		fmt.Fprintf(b, "- `%s`: %s. Shipped: `%s`.\n", path, k.About, k.Shipped)
	}
	fmt.Fprintf(b, "- Off: %s. Reducing orders: %s.\n", offBy(d.ID, d.Keys, keys), reducing(d.Exempt))
	switch d.Effect {
	case rail.EffectLatch:
		b.WriteString("- It also latches for the rest of the trade date.\n")
	case rail.EffectReduceOnly:
		b.WriteString("- It also sets mode reduce_only, until an operator resumes.\n")
	}
	fmt.Fprintf(b, "- Source: %s\n", d.Source)
}

func keyList(paths []string) string {
	if len(paths) == 0 {
		return "none"
	}
	return "`" + strings.Join(paths, "`, `") + "`"
}

// offBy says how the first of a rail's keys takes it out.
func offBy(id rail.ID, paths []string, keys map[string]limits.Key) string {
	if len(paths) == 0 {
		return "never"
	}
	k := keys[paths[0]]
	switch {
	case k.Off && id == rail.OrderInDoubt, k.Off && id == rail.MarketOrderGuard:
		return "`off`, in part"
	case k.Off:
		return "`off`"
	case k.Direction == limits.FalseTightens:
		return "`true`"
	case k.Direction == limits.TrueTightens:
		return "`false`"
	case k.Direction == limits.MoreTightens:
		return "`[]`"
	}
	return "never"
}

func reducing(e rail.Exempt) string {
	switch e {
	case rail.ExemptAll:
		return "pass"
	case rail.ExemptOwn:
		return "own figures"
	}
	return "judged"
}

// title puts a capital in front.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
