package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

// Limits of asking.
const (
	// AskWithin bounds one request to a witness.
	AskWithin = 5 * time.Second
	// answerBytesMax bounds an answer: some signature lines, or a number.
	answerBytesMax = 32 << 10
	answerLinesMax = 64
	saidBytesMax   = 200 // of a witness's own words
)

// Errors of asking say which promise a witness, or the log, has broken. Each is wrapped
// with the witness's name.
var (
	// ErrFork says that the witness has cosigned what this checkpoint does not extend.
	ErrFork = errors.New("the witness has cosigned another history of this log")
	// ErrAhead says that the witness has cosigned a larger checkpoint than this one.
	ErrAhead = errors.New("the witness has cosigned a larger checkpoint of this log")
	// ErrWentBack says that the witness has forgotten a checkpoint that it cosigned.
	ErrWentBack = errors.New("the witness has forgotten what it cosigned")
	// ErrUnanswered says that no usable answer came; it may be asked again.
	ErrUnanswered = errors.New("no cosignature")
)

// AskError is what came of asking one witness.
type AskError struct {
	Witness string
	Size    int64 // of the head that the witness told of; 0 if it told of none
	Why     string
	err     error // one of the errors above
}

func (e *AskError) Error() string {
	text := e.Witness + ": " + e.err.Error()
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Unwrap returns one of the errors of asking.
func (e *AskError) Unwrap() error { return e.err }

// Question is a checkpoint that needs cosignatures.
type Question struct {
	Checkpoint verify.Checkpoint
	// Cosigned is the size of the largest checkpoint held that the witness has cosigned;
	// 0 if it has cosigned none.
	Cosigned int64
	// Request writes the request from an old size, as tree.FormatExtension does. It is
	// called with 0 and with sizes up to the checkpoint's.
	Request func(ctx context.Context, old int64) ([]byte, error)
}

// Ask gets the cosignature of one witness. It asks a second time, and no more, when the
// witness's head is another than was thought. It returns the witness's signature line.
func Ask(ctx context.Context, w verify.Witness, q Question) (line []byte, at time.Time, err error) {
	if w.URL == "" {
		return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered, Why: "its address is not known"}
	}
	old := q.Cosigned
	if old > q.Checkpoint.Size {
		return nil, at, &AskError{Witness: w.Name, err: ErrAhead, Size: old}
	}
	for attempt := range 2 {
		request, err := q.Request(ctx, old)
		if err != nil {
			return nil, at, err
		}
		answer, size, err := post(ctx, w, request)
		if err != nil {
			return nil, at, err
		}
		if answer != nil {
			return pick(w, q.Checkpoint, answer)
		}
		switch {
		case size == noSize && old == q.Checkpoint.Size:
			return nil, at, &AskError{Witness: w.Name, err: ErrFork, Why: fmt.Sprintf("another tree of %d entries", old)}
		case size == noSize:
			return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered, Why: "a conflict that names no size"}
		case size < q.Cosigned:
			return nil, at, &AskError{Witness: w.Name, err: ErrWentBack, Size: size, Why: fmt.Sprintf("it cosigned %d entries, and now tells of %d", q.Cosigned, size)}
		case size > q.Checkpoint.Size:
			return nil, at, &AskError{Witness: w.Name, err: ErrAhead, Size: size, Why: fmt.Sprintf("it tells of %d entries, and this one is of %d", size, q.Checkpoint.Size)}
		case old == q.Checkpoint.Size && size == old: //nolint:gocritic // the same size on both sides, and yet a conflict: two trees
			return nil, at, &AskError{Witness: w.Name, err: ErrFork, Size: size, Why: fmt.Sprintf("another tree of %d entries", size)}
		case old == size || attempt > 0:
			return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered, Size: size, Why: "its head moves, or it contradicts itself"}
		}
		old = size
	}
	return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered} // not reached: the second attempt returns
}

// noSize is told of a conflict that names none: two trees of one size.
const noSize = -1

// post sends one request. It returns the lines of an answer, or the size of a conflict.
func post(ctx context.Context, w verify.Witness, request []byte) (answer []byte, size int64, err error) {
	unanswered := func(format string, args ...any) error {
		return &AskError{Witness: w.Name, err: ErrUnanswered, Why: fmt.Sprintf(format, args...)}
	}
	ctx, stop := context.WithTimeout(ctx, AskWithin)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(w.URL, "/")+AddCheckpoint, bytes.NewReader(request))
	if err != nil {
		return nil, 0, unanswered("%v", err)
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	// A witness is where the policy says that it is: no redirection is followed.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		return nil, 0, unanswered("%v", err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	switch {
	case err != nil:
		return nil, 0, unanswered("the answer broke off: %v", err)
	case len(body) > answerBytesMax:
		return nil, 0, unanswered("an answer over %d bytes", answerBytesMax)
	}
	switch response.StatusCode {
	case http.StatusOK:
		if len(body) == 0 {
			return nil, 0, unanswered("an empty answer")
		}
		return body, 0, nil
	case http.StatusConflict:
		if response.Header.Get("Content-Type") != sizeType {
			return nil, noSize, nil
		}
		size, err := parseSize(body)
		if err != nil {
			return nil, 0, unanswered("%v", err)
		}
		return nil, size, nil
	case http.StatusUnprocessableEntity:
		return nil, 0, &AskError{Witness: w.Name, err: ErrFork, Why: said(body)}
	}
	return nil, 0, unanswered("status %d: %s", response.StatusCode, said(body))
}

// said bounds and quotes what a witness writes: it may steer a terminal.
func said(body []byte) string {
	return fmt.Sprintf("%q", bytes.TrimSpace(body[:min(len(body), saidBytesMax)]))
}

// parseSize reads the answer to a request from another size than the head's.
func parseSize(body []byte) (int64, error) {
	text, ok := strings.CutSuffix(string(body), "\n")
	size, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return 0, fmt.Errorf("a conflict with no size: %s", said(body))
	}
	if size > verify.EntriesMax {
		return 0, fmt.Errorf("it tells of an impossible size, %d", size)
	}
	return size, nil
}

// pick finds the line of the answer that verifies as this witness's cosignature. Lines of
// other keys are passed over (c2sp.org/tlog-witness).
func pick(w verify.Witness, c verify.Checkpoint, answer []byte) (line []byte, at time.Time, err error) {
	lines := bytes.SplitAfter(answer, []byte("\n"))
	if len(lines) > answerLinesMax {
		return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered, Why: fmt.Sprintf("over %d lines", answerLinesMax)}
	}
	body := c.Signed[:bytes.LastIndex(c.Signed, []byte("\n\n"))+2]
	for _, line := range lines {
		if !bytes.HasPrefix(line, []byte("— "+w.Key.Name()+" ")) || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if at, err := w.Key.CosignedAt(append(bytes.Clone(body), line...)); err == nil {
			return line, at, nil
		}
	}
	return nil, at, &AskError{Witness: w.Name, err: ErrUnanswered, Why: "the answer holds no signature of the key that the policy names"}
}
