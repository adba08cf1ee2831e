package rail

// FoldsTo reports whether text, its letters a to z made upper case, is symbol byte for
// byte. Nothing else is folded: look-alikes of other alphabets stay different.
func FoldsTo(text, symbol string) bool {
	if len(text) != len(symbol) || text == "" {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != symbol[i] {
			return false
		}
	}
	return true
}

// listed reports whether text folds to one of the symbols.
func listed(symbols []string, text string) bool {
	for _, symbol := range symbols {
		if FoldsTo(text, symbol) {
			return true
		}
	}
	return false
}
