package fakealpaca

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Tunnel is how a client whose address is fixed reaches the fake unchanged: an HTTP proxy
// on loopback that takes CONNECT for Alpaca's names only, ends TLS with a certificate of
// an authority made at its start, and serves the fake. Nothing goes anywhere else.
type Tunnel struct {
	authority []byte
	config    *tls.Config
	inner     *http.Server
	conns     *handed
}

// names are the hosts that the tunnel stands for.
func names() []string { return []string{"paper-api.alpaca.markets", "data.alpaca.markets"} }

// NewTunnel makes an authority that lives for a day, and certificates for Alpaca's names.
func (b *Broker) NewTunnel() (*Tunnel, error) {
	now := time.Now()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fake broker, for tests on this machine"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, MaxPathLenZero: true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names()[0]}, DNSNames: names(),
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	t := &Tunnel{
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		config:    &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		conns:     &handed{ready: make(chan net.Conn), closed: make(chan struct{})},
	}
	t.inner = &http.Server{Handler: b.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = t.inner.Serve(t.conns) }() // ends with Close
	return t, nil
}

// Authority returns the certificate, in PEM, that a client must trust.
func (t *Tunnel) Authority() []byte { return t.authority }

// Close ends the inner server and its connections.
func (t *Tunnel) Close() error { return t.inner.Close() }

// ServeHTTP is the proxy: CONNECT for Alpaca's names on 443, and nothing else.
func (t *Tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	known := err == nil && port == "443"
	if known {
		known = false
		for _, n := range names() {
			known = known || n == host
		}
	}
	if r.Method != http.MethodConnect || !known {
		http.Error(w, "this proxy leads to the fake broker only", http.StatusForbidden)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "cannot tunnel", http.StatusInternalServerError)
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	t.conns.hand(tls.Server(&ahead{conn, buffered.Reader}, t.config))
}

// ahead is a connection of which a reader may hold bytes already.
type ahead struct {
	net.Conn
	r *bufio.Reader
}

func (a *ahead) Read(p []byte) (int, error) { return a.r.Read(p) }

// handed is a listener of connections that another server took.
type handed struct {
	ready  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var errHandedClosed = errors.New("fakealpaca: the tunnel is closed")

func (h *handed) hand(c net.Conn) {
	select {
	case h.ready <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// Accept returns the next connection; an error after Close.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.ready:
		return c, nil
	case <-h.closed:
		return nil, errHandedClosed
	}
}

// Close ends Accept.
func (h *handed) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr names no place.
func (h *handed) Addr() net.Addr { return &net.IPAddr{IP: net.IPv4(127, 0, 0, 1)} }
