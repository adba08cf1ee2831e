package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// readChunk is how much is read at once; a longer line is put together from chunks.
const readChunk = 32 << 10

// keepBytesMax is the longest line buffer kept between messages.
const keepBytesMax = 256 << 10

// Stdio taps a pair of streams that carry one message a line. In and Out are what the
// protocol library is given instead. Report is called for every violation before it is
// answered, on the goroutine that reads; the session goes on.
type Stdio struct {
	In  io.ReadCloser
	Out io.WriteCloser
}

// NewStdio taps in and out. A tool call that passes and is then answered with a protocol
// error which does not hold mark was refused by the library, out of everyone's sight:
// it is reported as well, on the goroutine that writes. Neither stream is closed by
// closing In or Out: they belong to the caller.
func NewStdio(in io.Reader, out io.Writer, mark string, report func(*Violation)) *Stdio {
	s := &session{out: out, mark: []byte(mark), report: report, inFlight: make(map[string]bool)}
	s.settled = sync.NewCond(&s.mu)
	r := &lineReader{in: bufio.NewReaderSize(in, readChunk), session: s}
	return &Stdio{In: r, Out: (*lineWriter)(s)}
}

// session is what both directions share.
type session struct {
	report func(*Violation)
	mark   []byte

	mu       sync.Mutex // guards all below and keeps lines whole
	out      io.Writer
	inFlight map[string]bool // ids of calls without an answer yet; true: a tool's
	initID   string          // of the initialize call in flight
	settled  *sync.Cond      // initID was cleared, or closed was set
	ready    bool            // an initialize call was answered with a result
	closed   bool
}

// admit takes a call into flight, or says why it cannot.
func (s *session) admit(f *Frame) *Violation {
	if f.Kind != KindCall {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, taken := s.inFlight[f.ID]
	switch {
	case taken:
		return violation(CodeInvalidRequest, "the id is that of a call still in flight")
	case len(s.inFlight) >= CallsInFlightMax:
		return violation(CodeBusy, "too many calls are in flight")
	case f.Answers:
		return f.Unasked()
	case f.Unserved() != nil:
		return f.Unserved()
	case f.Method == MethodCallTool && !s.ready && !f.PerRequest:
		return violation(CodeInvalidRequest, "a tool was called before the handshake")
	}
	if f.Method == methodInitialize && s.initID == "" {
		s.initID = f.ID
	}
	s.inFlight[f.ID] = f.Method == MethodCallTool
	return nil
}

// settle waits until a handshake in flight is answered, so that what a client sends on
// its heels is judged by how it ended. Closing ends the wait.
func (s *session) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.initID != "" && !s.closed {
		s.settled.Wait()
	}
	if s.closed {
		return io.EOF
	}
	return nil
}

// answer writes our own answer to a violation.
func (s *session) answer(v *Violation) error {
	if v.Silent {
		return nil
	}
	line := append(AppendError(nil, v), '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return io.ErrClosedPipe
	}
	_, err := s.out.Write(line)
	return err
}

// lineReader hands on whole, sound lines only, one a Read at most.
type lineReader struct {
	in      *bufio.Reader
	session *session
	line    []byte // being put together
	pending []byte // sound, not yet handed on
	err     error
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		if r.err == nil {
			r.err = r.session.settle()
		}
		if r.err != nil {
			return 0, r.err
		}
		r.err = r.next()
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// next reads one line and either makes it pending or answers it. A line beyond the
// limit is answered as soon as it is, and the rest of it is dropped unread.
func (r *lineReader) next() error {
	if cap(r.line) > keepBytesMax {
		r.line = nil
	}
	r.line = r.line[:0]
	tooLong, length := false, 0
	for {
		chunk, err := r.in.ReadSlice('\n')
		length += len(chunk)
		switch {
		case tooLong:
		case length > FrameBytesMax:
			tooLong = true
			v := violation(CodeParse, "the message is too long")
			v.Bytes, v.Raw = length, r.line
			if err := r.refuse(v); err != nil {
				return err
			}
			r.line = nil
		default:
			r.line = append(r.line, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !tooLong {
			if refused := r.take(); refused != nil {
				return refused
			}
		}
		return err
	}
}

// take judges the line that was put together.
func (r *lineReader) take() error {
	line := trim(r.line)
	if len(line) == 0 {
		return nil
	}
	f, v := Read(line)
	if v == nil {
		if v = r.session.admit(&f); v != nil {
			v.ID, v.Method, v.Tool, v.Bytes, v.Raw = f.ID, f.Method, f.Tool, len(line), line
		}
	}
	if v != nil {
		return r.refuse(v)
	}
	r.pending = append(line, '\n') // within r.line, which is not touched until this is read
	return nil
}

func (r *lineReader) refuse(v *Violation) error {
	r.session.report(v)
	return r.session.answer(v)
}

// Close ends the session: nothing is handed on after it.
func (r *lineReader) Close() error {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.closed = true
	r.session.settled.Broadcast()
	return nil
}

// lineWriter passes the library's lines on, each whole, and notes which calls they
// answer.
type lineWriter session

func (w *lineWriter) Write(line []byte) (int, error) {
	id, failed := answered(line)
	n, unseen, err := w.pass(line, id, failed)
	if unseen {
		w.report(&Violation{
			Code: CodeInvalidRequest, Problem: "the call does not fit the protocol version that it names", Silent: true,
			Method: MethodCallTool,
		})
	}
	return n, err
}

// pass writes a line; unseen tells that it refuses a tool call without our mark.
func (w *lineWriter) pass(line []byte, id string, failed bool) (n int, unseen bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, false, io.ErrClosedPipe
	}
	if id != "" {
		unseen = failed && w.inFlight[id] && !bytes.Contains(line, w.mark)
		delete(w.inFlight, id)
		if id == w.initID {
			w.initID = ""
			w.ready = w.ready || !failed
			w.settled.Broadcast()
		}
	}
	n, err = w.out.Write(line)
	return n, unseen, err
}

func (w *lineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.settled.Broadcast()
	return nil
}

// answered returns the id that an outgoing line answers, empty for a line that is no
// answer, and whether it is an error. The library writes the id before the result, so
// the result itself need not be read.
func answered(line []byte) (id string, failed bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line))
	if _, err := dec.ReadToken(); err != nil {
		return "", false
	}
	for {
		token, err := dec.ReadToken()
		if err != nil || token.Kind() != '"' {
			return id, failed
		}
		switch token.String() {
		case "method":
			return "", false
		case "result":
			return id, false
		case "error":
			return id, true
		case "id":
			value, err := dec.ReadValue()
			if err != nil {
				return "", false
			}
			id = idText(value)
		default:
			if err := dec.SkipValue(); err != nil {
				return "", false
			}
		}
	}
}
