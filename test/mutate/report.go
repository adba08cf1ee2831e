package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// counts are one package's figures.
type counts struct {
	Package     string `json:"package"`
	Mutants     int    `json:"mutants"`
	Killed      int    `json:"killed"`
	TimedOut    int    `json:"timed_out"`
	Survived    int    `json:"survived"`
	Explained   int    `json:"explained"`
	Open        int    `json:"open"`
	NotCompiled int    `json:"not_compiled"`
}

func (o *options) report(out io.Writer) error {
	byName := map[string]*counts{}
	var order []*counts
	looked := map[string]bool{}
	var unnamed []*mutant
	for _, m := range o.mutants {
		c := byName[m.Package]
		if c == nil {
			c = &counts{Package: m.Package, NotCompiled: o.notCompiled[m.Package] + o.leftOut[m.Package]}
			byName[m.Package] = c
			order = append(order, c)
			looked[m.Package] = o.only == "" && !o.onlyOpen
		}
		c.Mutants++
		switch m.Outcome {
		case "killed":
			c.Killed++
			continue
		case "timeout":
			c.TimedOut++
			continue
		}
		c.Survived++
		if reason, ok := o.explained.takes(m); ok {
			c.Explained++
			m.Reason = reason
		} else if _, ok := o.open.takes(m); ok {
			c.Open++
			m.Reason = "open"
		} else {
			unnamed = append(unnamed, m)
		}
	}
	stale, mended := o.explained.stale(looked), o.open.stale(looked)
	sort.Strings(stale)
	sort.Strings(mended)
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		err := e.Encode(map[string]any{"schema": "broker-rails/mutate/1", "packages": order, "mutants": o.mutants, "unnamed": len(unnamed), "stale": stale, "mended": mended, "left_out_tests": o.unusable})
		if err != nil {
			return err
		}
	} else if _, err := io.WriteString(out, table(order, unnamed, stale, mended, o.unusable)); err != nil {
		return err
	}
	if len(unnamed)+len(stale) > 0 {
		return errSurvived
	}
	return nil
}

func table(order []*counts, unnamed []*mutant, stale, mended, unusable []string) string {
	var out strings.Builder
	for _, m := range unnamed {
		fmt.Fprintf(&out, "%s:%d: %s survives\n\n%s %s %s\n%s\n%s\n\n", m.File, m.Line, m.Outcome, m.Package, m.Func, m.Operator, m.Source, m.Change)
	}
	for _, k := range stale {
		fmt.Fprintf(&out, "stale: no survivor is\n%s\n\n", k)
	}
	for _, k := range mended {
		fmt.Fprintf(&out, "killed now, take it out of open.txt:\n%s\n\n", k)
	}
	if len(unusable) > 0 {
		fmt.Fprintf(&out, "%d tests are left out: they need allocations or time that the instrumented build does not have\n", len(unusable))
	}
	fmt.Fprintf(&out, "%-10s %8s %8s %8s %9s %10s %6s %8s %12s\n", "package", "mutants", "killed", "timeout", "survived", "explained", "open", "unnamed", "not compiled")
	for _, c := range order {
		fmt.Fprintf(&out, "%-10s %8d %8d %8d %9d %10d %6d %8d %12d\n", c.Package, c.Mutants, c.Killed, c.TimedOut, c.Survived, c.Explained, c.Open, c.Survived-c.Explained-c.Open, c.NotCompiled)
	}
	return out.String()
}
