// Package profiles holds the broker profiles that the product ships, and the vectors that
// each is tested with.
package profiles

import "embed"

// Files are the profiles, one YAML document each, and vectors/*.json.
//
//go:embed *.yaml vectors/*.json
var Files embed.FS
