package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/verify"
)

// Names and limits of a witness's folder.
const (
	keyFile      = "key"
	headsFile    = "heads"
	lockFile     = "lock"
	headsHeader  = "rails-witness-heads/v1\n"
	headsSum     = "sha256 "
	headBytesMax = 1 << 10 // a name, a number and a hash take about 150
	headsMax     = 2 * LogsMax
)

// Errors of a folder. Each is wrapped with the file.
var (
	// ErrDamaged says that heads were lost or changed: the witness would cosign a fork.
	ErrDamaged = errors.New("the heads are missing or damaged")
	// ErrBusy says that another process runs a witness on the folder.
	ErrBusy = errors.New("another witness uses this folder")
)

// ExposedError says that others may read or write what must be the witness's own.
type ExposedError struct {
	Path string
	Mode fs.FileMode
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("%s: mode %04o lets others in", e.Path, e.Mode)
}

// Folder keeps a witness's key and its heads. One process at a time holds it.
type Folder struct {
	dir    string
	signer Signer
	lock   *os.File
}

// OpenFolder opens a witness's folder, or begins one in which neither key nor heads
// stand. A key without its heads is refused: see ErrDamaged. The name is for a new key;
// an existing key of another name is refused, and an empty name takes any.
func OpenFolder(dir, name string) (_ *Folder, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	f := &Folder{dir: dir}
	if f.lock, err = takeLock(filepath.Join(dir, lockFile)); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err = f.open(name); err != nil {
		return nil, errors.Join(err, f.lock.Close())
	}
	return f, nil
}

func (f *Folder) open(name string) error {
	path := filepath.Join(f.dir, keyFile)
	text, err := readPrivate(path, verify.KeyBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return f.begin(name)
	}
	if err != nil {
		return err
	}
	if f.signer, err = ParseSigner(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if name != "" && name != f.signer.Key().Name() {
		return fmt.Errorf("%s is of %s and not of %s: a key keeps its name", path, f.signer.Key().Name(), name)
	}
	_, err = f.Load()
	return err
}

// begin makes heads and key, in this order: a key stands only where heads do.
func (f *Folder) begin(name string) error {
	heads, err := f.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = f.Save(nil)
	case err == nil && len(heads) > 0:
		err = fmt.Errorf("%s: the key is missing, and heads that it cosigned are kept", filepath.Join(f.dir, keyFile))
	}
	if err != nil {
		return err
	}
	if f.signer, err = NewSigner(name); err != nil {
		return err
	}
	return f.replace(keyFile, []byte(f.signer.Secret()+"\n"))
}

// Signer is the folder's key.
func (f *Folder) Signer() Signer { return f.signer }

// Close lets another process have the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Load reads the heads. One byte that is not as it was written is an error.
func (f *Folder) Load() ([]Head, error) {
	path := filepath.Join(f.dir, headsFile)
	text, err := readPrivate(path, headsMax*headBytesMax)
	if err == nil {
		var heads []Head
		if heads, err = parseHeads(text); err == nil {
			return heads, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) && f.signer.key == nil {
		return nil, err // nothing was begun here
	}
	var exposed *ExposedError
	if errors.As(err, &exposed) {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
}

// Save writes the heads beside the old ones, flushes them, and puts them in their place.
func (f *Folder) Save(heads []Head) error { return f.replace(headsFile, formatHeads(heads)) }

func formatHeads(heads []Head) []byte {
	b := bytes.NewBufferString(headsHeader)
	for _, h := range heads {
		fmt.Fprintf(b, "%s %d %s\n", h.Origin, h.Size, base64.StdEncoding.EncodeToString(h.Root[:]))
	}
	sum := sha256.Sum256(b.Bytes())
	fmt.Fprintf(b, "%s%x\n", headsSum, sum)
	return b.Bytes()
}

func parseHeads(text []byte) ([]Head, error) {
	at := bytes.LastIndex(text, []byte("\n"+headsSum)) + 1
	rest, ok := bytes.CutPrefix(text[:at], []byte(headsHeader))
	sum := sha256.Sum256(text[:at])
	if !ok || string(text[at:]) != headsSum+hex.EncodeToString(sum[:])+"\n" {
		return nil, errors.New("the file is not whole")
	}
	var heads []Head
	seen := map[string]bool{}
	for line := range strings.Lines(string(rest)) {
		h, err := parseHead(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		if seen[h.Origin] || len(heads) == headsMax {
			return nil, fmt.Errorf("two heads of one log, or over %d", headsMax)
		}
		seen[h.Origin] = true
		heads = append(heads, h)
	}
	return heads, nil
}

func parseHead(line string) (h Head, err error) {
	words := strings.Split(line, " ")
	if len(words) != 3 || words[0] == "" {
		return h, errors.New("a head is origin, size and root")
	}
	h.Origin = words[0]
	h.Size, err = strconv.ParseInt(words[1], 10, 64)
	if err != nil || h.Size < 1 || h.Size > verify.EntriesMax || strconv.FormatInt(h.Size, 10) != words[1] {
		return h, errors.New("the size of a head is no such number")
	}
	root, err := base64.StdEncoding.Strict().DecodeString(words[2])
	if err != nil || len(root) != len(h.Root) {
		return h, errors.New("the root of a head is not a hash")
	}
	h.Root = verify.Hash(root)
	return h, nil
}

// replace puts a file in the place of another, whole, and flushes file and folder.
func (f *Folder) replace(name string, text []byte) error {
	tmp, err := os.CreateTemp(f.dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone once it is renamed
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), filepath.Join(f.dir, name)); err != nil {
		return err
	}
	return flushFolder(f.dir)
}

func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if exposed(info) {
		return &ExposedError{Path: path, Mode: info.Mode().Perm()}
	}
	return nil
}

func readPrivate(path string, most int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a file", path)
	case exposed(info):
		return nil, &ExposedError{Path: path, Mode: info.Mode().Perm()}
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: over %d bytes", path, most)
	}
	return text, err
}
