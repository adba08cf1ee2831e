package alpaca

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Names of the keys, in a file and in the environment.
const (
	KeyName    = "APCA_API_KEY_ID"
	SecretName = "APCA_API_SECRET_KEY" //nolint:gosec // the name of a variable
)

// KeysBytesMax bounds a file of keys.
const KeysBytesMax = 4 << 10

// Keys let their holder trade. They print as nothing, so that no log or error holds them.
type Keys struct{ id, secret string }

// String hides the keys.
func (Keys) String() string { return "keys" }

// GoString hides the keys.
func (Keys) GoString() string { return "keys" }

// MarshalText refuses: keys are never written.
func (Keys) MarshalText() ([]byte, error) { return nil, errors.New("keys are never written") }

var errNoKeys = errors.New("there are no keys: set " + KeyName + " and " + SecretName + ", or name a file of them that only its owner can read")

// KeysFrom takes the keys from the environment, as env answers for a name.
func KeysFrom(env func(name string) string) (Keys, error) {
	k := Keys{env(KeyName), env(SecretName)}
	if !k.usable() {
		return Keys{}, errNoKeys
	}
	return k, nil
}

// ReadKeys reads a file that holds a line NAME=value for each of the two names; "export "
// may stand before it, and lines of other names are passed over. The file must be open to
// its owner alone.
func ReadKeys(path string) (Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return Keys{}, err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return Keys{}, err
	}
	if !info.Mode().IsRegular() {
		return Keys{}, fmt.Errorf("%s is not a file", path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return Keys{}, fmt.Errorf("%s can be read by others: its mode is %04o, and 0600 is wanted", path, info.Mode().Perm())
	}
	var k Keys
	for lines := bufio.NewScanner(io.LimitReader(f, KeysBytesMax)); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(name) {
		case KeyName:
			k.id = value
		case SecretName:
			k.secret = value
		}
	}
	if !k.usable() {
		return Keys{}, fmt.Errorf("%s does not hold %s and %s", path, KeyName, SecretName)
	}
	return k, nil
}

// usable reports whether both keys are there and can stand in a header.
func (k Keys) usable() bool {
	for _, s := range []string{k.id, k.secret} {
		if s == "" || len(s) > 256 {
			return false
		}
		for _, c := range []byte(s) {
			if c <= ' ' || c >= 0x7f {
				return false
			}
		}
	}
	return true
}
