//go:build unix

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Bits of a file's mode that let the group and others write.
const othersWrite = 0o022

// writableByOthers returns the command that mends a file or folder that someone beside
// this user and the superuser may write; empty if nobody else may.
func writableByOthers(path string, info fs.FileInfo) string {
	if info.Mode().Perm()&othersWrite != 0 {
		return fmt.Sprintf("chmod go-w %s", quoted(path))
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && owner.Uid != 0 && int(owner.Uid) != me {
		return fmt.Sprintf("chown %d %s", me, quoted(path))
	}
	return ""
}
