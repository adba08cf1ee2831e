// Package profiles holds the broker profiles that the product ships, and the vectors that
// each is tested with.
package profiles

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml vectors/*.json
var files embed.FS

// Files are the profiles, one YAML document each, and vectors/*.json.
func Files() fs.ReadFileFS { return files }
