//go:build !unix

package cli

import "io/fs"

// writableByOthers knows nothing of access control lists: there it is for the operator
// to see who may write the limits.
func writableByOthers(string, fs.FileInfo) string { return "" }
