package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/verify"
)

// Names inside a data folder.
const (
	FolderName = "checkpoints"
	PublicName = "key.pub"
	secretName = "key"
	suffix     = ".checkpoint"
	sizeDigits = 15 // of EntriesMax, so that files list by size
)

// Folder is where a journal's checkpoints and its key are kept.
type Folder struct{ dir string }

// In returns the folder of checkpoints inside a data folder. It need not exist.
func In(data string) Folder { return Folder{filepath.Join(data, FolderName)} }

// Dir is the folder's path.
func (f Folder) Dir() string { return f.dir }

// ExposedError says that others may read the private key.
type ExposedError struct {
	Path string
	Mode fs.FileMode
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("%s: mode %04o lets others read the key that signs checkpoints", e.Path, e.Mode)
}

// Signer returns the private key, made now if there is none. One for another log, or one
// that others may read, is refused.
func (f Folder) Signer(origin string) (Signer, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return Signer{}, err
	}
	path := filepath.Join(f.dir, secretName)
	text, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.begin(origin)
	}
	if err != nil {
		return Signer{}, err
	}
	s, err := parseSigner(text)
	if err != nil {
		return Signer{}, fmt.Errorf("%s: %w", path, err)
	}
	if s.Origin() != origin {
		return Signer{}, &BrokenError{Want: "the journal " + s.Origin() + " of the key", Got: origin}
	}
	return s, f.publish(s)
}

// begin makes a key. A folder that holds checkpoints without their key gets no new one:
// they could not be told from those of someone else.
func (f Folder) begin(origin string) (Signer, error) {
	names, err := f.names()
	if err != nil {
		return Signer{}, err
	}
	if len(names) > 0 {
		return Signer{}, fmt.Errorf("%s: the key is missing, and checkpoints that it signed are held", filepath.Join(f.dir, secretName))
	}
	s, err := newSigner(origin)
	if err != nil {
		return Signer{}, err
	}
	if err := f.write(secretName, []byte(s.secret+"\n")); err != nil {
		return Signer{}, err
	}
	return s, f.publish(s)
}

// publish writes the public key beside the private one, or sees that it is there.
func (f Folder) publish(s Signer) error {
	path := filepath.Join(f.dir, PublicName)
	text, err := readUpTo(path, verify.KeyBytesMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.write(PublicName, []byte(s.public+"\n"))
	case err != nil:
		return err
	case strings.TrimSuffix(string(text), "\n") != s.public:
		return fmt.Errorf("%s is not the public key of %s", path, secretName)
	}
	return nil
}

// Public returns the public key that the held checkpoints must be signed by.
func (f Folder) Public() (verify.Key, []byte, error) {
	path := filepath.Join(f.dir, PublicName)
	text, err := readUpTo(path, verify.KeyBytesMax)
	if err != nil {
		return verify.Key{}, nil, err
	}
	k, err := verify.ParseKey(text)
	if err != nil {
		return verify.Key{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, text, nil
}

// names are the files of checkpoints, by size. None is no error.
func (f Folder) names() ([]string, error) { return f.named(suffix) }

func (f Folder) named(suffix string) ([]string, error) {
	list, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Held returns every checkpoint, verified, by size. One that does not verify, or stands
// under another size than its own, is an error.
func (f Folder) Held() ([]verify.Checkpoint, error) {
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	return f.open(names, FileName)
}

// Newest returns the largest checkpoint, if there is any.
func (f Folder) Newest() (c verify.Checkpoint, held bool, err error) {
	names, err := f.names()
	if err != nil || len(names) == 0 {
		return c, false, err
	}
	list, err := f.open(names[len(names)-1:], FileName)
	if err != nil {
		return c, false, err
	}
	return list[0], true, nil
}

func (f Folder) open(names []string, fileName func(size int64) string) ([]verify.Checkpoint, error) {
	if len(names) == 0 {
		return nil, nil
	}
	key, _, err := f.Public()
	if err != nil {
		return nil, fmt.Errorf("checkpoints are held and their public key is not: %w", err)
	}
	var held []verify.Checkpoint
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		signed, err := readUpTo(path, verify.CheckpointBytesMax)
		if err != nil {
			return nil, err
		}
		c, err := verify.OpenCheckpoint(signed, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if name != fileName(c.Size) {
			return nil, fmt.Errorf("%s: %w: it is of size %d", path, verify.ErrMalformed, c.Size)
		}
		held = append(held, c)
	}
	return held, nil
}

// FileName is the name of the file of a checkpoint.
func FileName(size int64) string {
	text := strconv.FormatInt(size, 10)
	return strings.Repeat("0", max(0, sizeDigits-len(text))) + text + suffix
}

// Keep writes a checkpoint, durably. One that is held already stays as it is; another
// one of the same size is an error.
func (f Folder) Keep(c verify.Checkpoint) (path string, err error) {
	path = filepath.Join(f.dir, FileName(c.Size))
	old, err := readUpTo(path, verify.CheckpointBytesMax)
	switch {
	case err == nil && string(old) == string(c.Signed):
		return path, nil
	case err == nil:
		return path, &BrokenError{Checkpoint: c.Size, Want: "the checkpoint that is held", Got: "another one of its size"}
	case !errors.Is(err, fs.ErrNotExist):
		return path, err
	}
	if err = f.write(FileName(c.Size), c.Signed); !errors.Is(err, fs.ErrExist) {
		return path, err
	}
	// Another process kept one meanwhile. A signature of Ed25519 is always the same, so
	// theirs is ours unless the journal is not.
	if old, err = readUpTo(path, verify.CheckpointBytesMax); err == nil && string(old) != string(c.Signed) {
		err = &BrokenError{Checkpoint: c.Size, Want: "the checkpoint that is held", Got: "another one of its size"}
	}
	return path, err
}

// write makes a file that was not there, whole or not at all, and flushes it. A file of
// that name that appeared meanwhile is left as it is and is an error.
func (f Folder) write(name string, text []byte) error {
	tmp, err := os.CreateTemp(f.dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // its second name, once it has the first
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), filepath.Join(f.dir, name)); err != nil {
		return err
	}
	return flushFolder(f.dir)
}

// readUpTo reads a file, and refuses one that is longer than it may be.
func readUpTo(path string, most int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readBounded(in, most)
}

func readBounded(in *os.File, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: %w: over %d bytes", in.Name(), verify.ErrMalformed, most)
	}
	return text, err
}

// readPrivate reads the private key, unless others may.
func readPrivate(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if exposed(info) {
		return nil, &ExposedError{Path: path, Mode: info.Mode().Perm()}
	}
	return readBounded(in, verify.KeyBytesMax)
}
