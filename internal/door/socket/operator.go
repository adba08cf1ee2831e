package socket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-json-experiment/json"
)

// Schemas of the operator's protocol: one request line, one answer line, then the
// connection ends.
const (
	SchemaRequest = "rails.operator/v1"
	SchemaAnswer  = "rails.operator-answer/v1"
)

// Request asks for one command of the operator's.
type Request struct {
	Schema string   `json:"schema"`
	Verb   string   `json:"verb"`
	Args   []string `json:"args"` // --name=value, and positional ones
	JSON   bool     `json:"json"`
}

// Answer is what the command said, and its exit code.
type Answer struct {
	Schema string `json:"schema"`
	Code   int    `json:"code"`
	Out    string `json:"out"`
	Err    string `json:"err"`
}

// Ask puts one request to a server. After an error it is not known whether the command
// was carried out.
func Ask(ctx context.Context, path string, r Request) (Answer, error) {
	c, err := Dial(ctx, path)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = c.Close() }() // what was written is written
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.SetDeadline(time.Now().Add(AnswerWithin)); err != nil {
		return Answer{}, err
	}
	r.Schema = SchemaRequest
	if err := writeLine(c, r, RequestBytesMax); err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := readLine(c, &a, AnswerBytesMax); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrServerGone
		}
		return Answer{}, err
	}
	if a.Schema != SchemaAnswer {
		return Answer{}, errors.New("the answer is of another protocol")
	}
	return a, nil
}

// Serve reads one request, has it answered, and ends the connection. The zero request of
// a line that could not be read is not answered.
func Serve(c net.Conn, answer func(Request) Answer) error {
	defer func() { _ = c.Close() }() // what was written is written
	if err := c.SetReadDeadline(time.Now().Add(RequestWithin)); err != nil {
		return err
	}
	var r Request
	if err := readLine(c, &r, RequestBytesMax); err != nil {
		return err
	}
	if r.Schema != SchemaRequest {
		return errors.New("the request is of another protocol")
	}
	a := answer(r)
	a.Schema = SchemaAnswer
	if err := c.SetWriteDeadline(time.Now().Add(RequestWithin)); err != nil {
		return err
	}
	err := writeLine(c, a, AnswerBytesMax)
	if errors.Is(err, errTooLong) {
		return writeLine(c, Answer{Schema: SchemaAnswer, Code: 1, Err: "rails: it was done, and what it said is too long to pass on\n"}, AnswerBytesMax)
	}
	return err
}

var errTooLong = errors.New("the line is too long")

func writeLine(w io.Writer, v any, most int) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line) >= most {
		return errTooLong
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads one line of JSON with no names but v's.
func readLine(r io.Reader, v any, most int64) error {
	line, err := bufio.NewReader(io.LimitReader(r, most)).ReadBytes('\n')
	if int64(len(line)) >= most {
		return errTooLong
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("the line is not what the protocol has: %w", err)
	}
	return nil
}
