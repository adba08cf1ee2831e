package limits

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// commentColumn is where the comments of the shipped document stand.
const commentColumn = 38

// Template returns the shipped document for an account: complete, commented YAML
// that loads. An account that could not be loaded is replaced by paper.
func Template(account string) []byte {
	b := []byte("# Limits of one account. Every key must be here: a value, or the word off.\n" +
		"# Maxima and minima are inclusive; 0 of a maximum allows nothing.\n" +
		"# Decimals may stand in quotes. bps are hundredths of a percent.\n")
	section := ""
	for i := range table {
		r := &table[i]
		if r.section != section {
			b = append(b, '\n')
			if section = r.section; section != "" {
				b = append(append(b, section...), ":\n"...)
			}
		}
		line := r.name + ": " + r.Shipped
		if r.Path == "account" {
			line = r.name + ": " + accountText(account)
		}
		if section != "" {
			line = "  " + line
		}
		b = append(b, line...)
		b = append(b, strings.Repeat(" ", max(commentColumn-len(line), 1))...)
		b = append(append(b, "# "...), r.About...)
		b = append(b, '\n')
	}
	return b
}

// accountText writes an account in quotes where YAML would read it otherwise.
func accountText(account string) string {
	if _, c := accountID().read(&node{Shape: strict.Scalar, Text: account, Quoted: true}); c.Found() {
		return "paper"
	}
	switch account {
	case "true", "false", "null", "yes", "no", "on", "y", "n":
		return `"` + account + `"`
	}
	for i := range len(account) {
		if c := account[i]; c < 'a' || c > 'z' {
			return `"` + account + `"`
		}
	}
	return account
}
