package mcpserver

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// Bounds of a token file.
const (
	TokenBytesMin     = 16 // 128 bits in hex are 32; less than 16 characters is a password
	TokenBytesMax     = 512
	TokensMax         = 256
	tokenFileBytesMax = 256 << 10
)

// Tokens are the bearer tokens that may call, each with the name of its principal.
// Only digests are kept. The zero value holds none.
type Tokens struct {
	named []namedToken
}

type namedToken struct {
	name   string
	digest [sha256.Size]byte
}

// Empty reports whether there is no token.
func (t Tokens) Empty() bool { return len(t.named) == 0 }

// ParseTokens reads one token a line: name:token, or a token alone, whose principal is
// called token. Empty lines and lines that start with # are skipped. A name is 1 to 64
// of A-Z a-z 0-9 . _ -, and belongs to one token; a token is TokenBytesMin to
// TokenBytesMax of the characters that a bearer token may have.
//
// Source: RFC 6750, section 2.1.
func ParseTokens(r io.Reader) (Tokens, error) {
	var t Tokens
	lines := bufio.NewScanner(io.LimitReader(r, tokenFileBytesMax+1))
	for n, size := 1, 0; lines.Scan(); n++ {
		if size += len(lines.Bytes()) + 1; size > tokenFileBytesMax {
			return Tokens{}, errors.New("tokens: the file is too long")
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := t.add(line); err != nil {
			return Tokens{}, fmt.Errorf("tokens: line %d: %w", n, err) // never the line itself
		}
	}
	if err := lines.Err(); err != nil {
		return Tokens{}, fmt.Errorf("tokens: %w", err)
	}
	if t.Empty() {
		return Tokens{}, errors.New("tokens: there is none")
	}
	return t, nil
}

func (t *Tokens) add(line string) error {
	name, token, named := strings.Cut(line, ":")
	if !named {
		name, token = "token", line
	}
	token = strings.TrimSpace(token)
	switch {
	case !plain(name, 64, "._-"):
		return errors.New("a name is 1 to 64 of A-Z a-z 0-9 . _ -")
	case len(token) < TokenBytesMin:
		return fmt.Errorf("the token is shorter than %d characters", TokenBytesMin)
	case !plain(strings.TrimRight(token, "="), TokenBytesMax, "-._~+/"):
		return errors.New("the token has characters that no bearer token has, or is too long")
	case len(t.named) >= TokensMax:
		return fmt.Errorf("more than %d tokens", TokensMax)
	}
	digest := sha256.Sum256([]byte(token))
	for _, have := range t.named {
		if have.name == name || have.digest == digest {
			return errors.New("a name or a token stands twice")
		}
	}
	t.named = append(t.named, namedToken{name, digest})
	return nil
}

func plain(s string, most int, extra string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return len(s) > 0 && len(s) <= most
}

// ReadTokens reads a token file, which only its owner may read or write.
func ReadTokens(path string) (Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return Tokens{}, fmt.Errorf("tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Tokens{}, fmt.Errorf("tokens: %w", err)
	case !info.Mode().IsRegular():
		return Tokens{}, fmt.Errorf("tokens: %s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return Tokens{}, fmt.Errorf("tokens: others can read or write %s; mend it with: chmod 600 %s", path, path)
	}
	return ParseTokens(f)
}

// principal returns whose token it is. Every token is compared, in constant time, so
// that an answer's delay tells nothing of them.
func (t Tokens) principal(token string) (name string, ok bool) {
	digest := sha256.Sum256([]byte(token))
	for i := range t.named {
		if subtle.ConstantTimeCompare(t.named[i].digest[:], digest[:]) == 1 {
			name, ok = t.named[i].name, true
		}
	}
	return name, ok
}

// verify is the SDK's hook. The name becomes the user that a session is bound to.
func (t Tokens) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	name, ok := t.principal(token)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: name}, nil
}
