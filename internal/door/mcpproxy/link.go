package mcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// Link carries whole messages both ways. Read returns the next one, *LongError for one
// that was too long and dropped, or another error at the end. Write may be called from
// many goroutines and does not wait for the other side longer than StallFor. Close ends
// both.
type Link interface {
	Read() ([]byte, error)
	Write(message []byte) error
	Close() error
}

// LongError says that a message was longer than MessageBytesMax; Head is its beginning.
type LongError struct{ Head []byte }

func (e *LongError) Error() string { return "the message is too long" }

var (
	errStalled = errors.New("the other side does not read")
	errEnded   = errors.New("the session has ended")
)

// headBytesMax is what is kept of a message that is too long: its id stands there.
const headBytesMax = 4 << 10

// lines is a link over a pair of streams, one message a line.
type lines struct {
	in    *bufio.Reader
	close func() error
	stall time.Duration // StallFor; shorter in tests

	mu      sync.Mutex // guards all below
	moved   *sync.Cond // the queue got shorter or longer, or the end came
	out     io.Writer
	queue   [][]byte
	bytes   int
	writing bool
	ended   error
}

// Lines returns a link over streams. It starts a goroutine that writes, and that Close
// ends; closing is called once, to end the streams themselves.
func Lines(in io.Reader, out io.Writer, closing func() error) Link {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, close: closing, stall: StallFor}
	l.moved = sync.NewCond(&l.mu)
	go l.write()
	return l
}

func (l *lines) Read() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 || err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				err = nil // the end comes with the next one
			}
			return line, err
		}
	}
}

func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		chunk, err := l.in.ReadSlice('\n')
		if len(line)+len(chunk) > MessageBytesMax {
			head := append(line, chunk...)[:headBytesMax:headBytesMax]
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.in.ReadSlice('\n')
			}
			if err == nil {
				err = &LongError{Head: bytes.Clone(head)}
			}
			return nil, err
		}
		line = append(line, chunk...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (l *lines) Write(message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= QueueMax || l.bytes+len(message) > QueueBytesMax {
		late := time.AfterFunc(l.stall, func() { l.end(errStalled) })
		defer late.Stop()
		for l.ended == nil && (len(l.queue) >= QueueMax || l.bytes > 0 && l.bytes+len(message) > QueueBytesMax) {
			l.moved.Wait()
		}
	}
	if l.ended != nil {
		return l.ended
	}
	line := make([]byte, 0, len(message)+1)
	l.queue = append(l.queue, append(append(line, message...), '\n'))
	l.bytes += len(message)
	l.moved.Broadcast()
	return nil
}

// write writes what is queued until the end.
func (l *lines) write() {
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && l.ended == nil {
			l.moved.Wait()
		}
		if len(l.queue) == 0 || errors.Is(l.ended, errStalled) {
			l.mu.Unlock()
			return
		}
		line := l.queue[0]
		l.queue = l.queue[1:]
		l.bytes -= len(line) - 1
		l.writing = true
		l.moved.Broadcast()
		l.mu.Unlock()
		_, err := l.out.Write(line)
		l.mu.Lock()
		l.writing = false
		l.moved.Broadcast()
		l.mu.Unlock()
		if err != nil {
			l.end(err)
			return
		}
	}
}

func (l *lines) end(why error) {
	l.mu.Lock()
	if l.ended == nil {
		l.ended = why
	}
	l.moved.Broadcast()
	l.mu.Unlock()
	if errors.Is(why, errStalled) {
		_ = l.close() // a write that hangs returns by this
	}
}

// Close writes what is queued, for a second at the most, and ends the streams.
func (l *lines) Close() error {
	l.mu.Lock()
	late := time.AfterFunc(time.Second, func() { l.end(errStalled) })
	for l.ended == nil && (len(l.queue) > 0 || l.writing) {
		l.moved.Wait()
	}
	late.Stop()
	l.mu.Unlock()
	l.end(errEnded)
	return l.close()
}
