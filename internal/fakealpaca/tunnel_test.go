package fakealpaca_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
)

// A client with a fixed address reaches the fake through its proxy variable and a trusted
// authority; the proxy leads nowhere else.
func TestTunnelLeadsToTheFakeOnly(t *testing.T) {
	b, _ := desk(t, fakealpaca.Options{})
	tunnel, err := b.NewTunnel()
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	proxy := httptest.NewServer(tunnel)
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(tunnel.Authority()) {
		t.Fatal("the authority is no certificate")
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: pool}}}
	key, secret := b.Keys()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://paper-api.alpaca.markets/v2/account", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("APCA-API-KEY-ID", key)
	request.Header.Set("APCA-API-SECRET-KEY", secret)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), `"cash":"100000"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, elsewhere := range []string{"https://api.alpaca.markets/", "https://example.org/", "http://paper-api.alpaca.markets/"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, elsewhere, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := client.Do(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s was reached: %s", elsewhere, answer.Status)
			}
		}
	}
}
