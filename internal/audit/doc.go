// Package audit answers three questions about a journal, each with a count: is every
// entry intact and in order; does the fold give the account; does risk.Decide give
// every recorded verdict again. It streams: memory does not grow with the log. It
// shares with the writer only the entry schema and the pure core.
package audit
