package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// Exit codes. They are part of the interface: scripts and service managers read them.
const (
	exitDone   = 0
	exitFailed = 1 // failed, or a verdict of error
	exitUsage  = 2
	exitLimits = 3 // the limits document is invalid, missing or writable by others
	exitDenied = 4 // an order was denied, or an expectation failed
	exitHeld   = 5 // an order is held for a person
	exitAudit  = 6 // the journal did not verify
	exitBroker = 7 // the broker is unreachable, or something stays in doubt
	exitHalted = 8 // serve will not start because the account is halted
)

// failure is what a command says when it does not end well. A failure without a text
// only sets the exit code: the command has printed its answer already.
type failure struct {
	code int
	what string // what failed, and where
	hint string // what to do; may be empty
	err  error  // cause; may be nil
}

func (f *failure) Error() string {
	switch {
	case f.err == nil:
		return f.what
	case f.what == "":
		return f.err.Error()
	}
	return f.what + ": " + f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// silently ends a command with a code and nothing more to say.
func silently(code int) error {
	if code == exitDone {
		return nil
	}
	return &failure{code: code}
}

func usage(hint, format string, args ...any) error {
	return &failure{code: exitUsage, what: fmt.Sprintf(format, args...), hint: hint}
}

func failed(hint, format string, args ...any) error {
	return &failure{code: exitFailed, what: fmt.Sprintf(format, args...), hint: hint}
}

// unreached marks what failed while the broker was asked.
func unreached(what string, err error) error {
	return &failure{code: exitBroker, what: what, err: err, hint: "nothing was sent again; ask once more with: rails reconcile"}
}

// held is the hint when another process keeps the journal locked.
const held = "a process that hangs holds the journal; end it, since what does not run sends nothing, and try again"

// explained is an error's exit code and the hint that goes with it. It is the only
// place where errors of other packages become exit codes.
func explained(err error) (code int, hint string) {
	var own *failure
	var problems limits.Errors
	var mismatch *gate.LimitsMismatchError
	var journal *sqlite.UnavailableError
	var broken *gate.BrokenError
	var ledger *paper.SchemaError
	var ended *clock.PracticeEndedError
	var exposed *tree.ExposedError
	switch {
	case err == nil:
		return exitDone, ""
	case errors.As(err, &own):
		return own.code, own.hint
	case errors.As(err, &problems):
		return exitLimits, limitsHint(problems)
	case errors.As(err, &mismatch):
		return exitLimits, mismatchHint(mismatch)
	case errors.As(err, &broken):
		return exitFailed, "nothing passes while journal and state disagree; look with: rails audit-verify"
	case errors.As(err, &journal):
		return exitFailed, journalHint(journal)
	case errors.As(err, &ledger):
		return exitBroker, "it was written by another version; move it away and start anew with: rails init"
	case errors.As(err, &ended):
		return exitFailed, ended.Hint()
	case errors.As(err, &exposed):
		return exitFailed, "chmod 600 " + quoted(exposed.Path)
	case unproved(err):
		return exitAudit, ""
	case errors.Is(err, gate.ErrNoAccount):
		return exitFailed, "make it with: rails init"
	case errors.Is(err, context.DeadlineExceeded):
		return exitFailed, held
	case errors.Is(err, fs.ErrPermission):
		return exitFailed, "run it as the user who owns the file"
	}
	return exitFailed, ""
}

// unproved reports whether a journal, a checkpoint or a proof is not what it must be.
func unproved(err error) bool {
	var broken *tree.BrokenError
	return errors.As(err, &broken) || errors.Is(err, verify.ErrMalformed) || errors.Is(err, verify.ErrSignature) ||
		errors.Is(err, verify.ErrNotIncluded) || errors.Is(err, verify.ErrNotExtended) ||
		errors.Is(err, verify.ErrQuorum) || errors.Is(err, audit.ErrChains)
}

// limitsHint is what to write instead where one thing is wrong. Of several, each says
// its own.
func limitsHint(problems limits.Errors) string {
	for _, p := range problems {
		if strings.HasPrefix(p.Problem, "is not YAML") {
			return "look there, and at the line before: each level is two spaces deeper than its key, without tabs"
		}
	}
	if len(problems) == 1 && problems[0].Hint != "" {
		return problems[0].Hint
	}
	return "mend the file and try again"
}

func mismatchHint(m *gate.LimitsMismatchError) string {
	if m.Field == "account" {
		return "one limits document is for one account; name its file with --limits"
	}
	return "write " + m.Gate + " after " + m.Field + ":, or name another file with --limits"
}

func journalHint(err *sqlite.UnavailableError) string {
	if err.Mend != "" {
		return err.Mend
	}
	switch err.Reason {
	case sqlite.ReasonMissing:
		return "make one with: rails init"
	case sqlite.ReasonLocked:
		return held
	case sqlite.ReasonOverloaded:
		return "try again"
	case sqlite.ReasonDiskFull:
		return "make room on the disk, and try again"
	case sqlite.ReasonCorrupt, sqlite.ReasonUnknown:
		return "keep the file; start a new journal from what the broker shows with: rails init --adopt --reason R"
	case sqlite.ReasonReadOnly, sqlite.ReasonUnreadable:
		return "see that disk and folder can be read and written by the user who runs rails"
	case sqlite.ReasonFailed, sqlite.ReasonBroken, sqlite.ReasonReplaced:
		return "look at the disk, then at the journal with: rails audit-verify"
	default:
		return "" // the error says all that is known
	}
}
