package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits of the server.
const (
	// AddCheckpoint is the path below a witness's address.
	AddCheckpoint = "/add-checkpoint"
	sizeType      = "text/x.tlog.size"

	requestsMax    = 64 // at once; more are told to come again
	headerBytesMax = 16 << 10
	headerWithin   = 5 * time.Second
	readWithin     = 10 * time.Second
	writeWithin    = 15 * time.Second
	idleFor        = time.Minute
	stopWithin     = 5 * time.Second
)

// Handler serves add-checkpoint, and at / the public key for who looks with a browser.
func (w *Witness) Handler() http.Handler {
	mux := http.NewServeMux()
	busy := make(chan struct{}, requestsMax)
	mux.HandleFunc("POST "+AddCheckpoint, func(out http.ResponseWriter, r *http.Request) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
			w.addCheckpoint(out, r)
		default:
			http.Error(out, "busy", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /{$}", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintf(out, "A witness of transparency logs (c2sp.org/tlog-witness).\n%s\n", w.Key()) // the reader went away
	})
	return mux
}

func (w *Witness) addCheckpoint(out http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(http.MaxBytesReader(out, r.Body, RequestBytesMax))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		http.Error(out, fmt.Sprintf("over %d bytes", RequestBytesMax), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(out, "the request did not arrive", http.StatusBadRequest)
		return
	}
	line, err := w.Cosign(request)
	var refused *Refusal
	switch {
	case err == nil:
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = out.Write(line) // who does not get it asks again
	case errors.As(err, &refused) && refused.Stale:
		out.Header().Set("Content-Type", sizeType)
		out.WriteHeader(refused.Status)
		_, _ = fmt.Fprintf(out, "%d\n", refused.Size) // likewise
	case errors.As(err, &refused):
		http.Error(out, refused.Why, refused.Status)
	default:
		http.Error(out, "not cosigned", http.StatusInternalServerError)
	}
}

// Serve answers on a listener until ctx ends, and lets what has begun come to its end.
func (w *Witness) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: w.Handler(), ReadHeaderTimeout: headerWithin, ReadTimeout: readWithin, WriteTimeout: writeWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: headerBytesMax,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newPlaces(l, connectionsMax)) }() // Shutdown ends it
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer stop()
	err := server.Shutdown(end)
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
