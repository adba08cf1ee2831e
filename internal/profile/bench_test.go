package profile

import "testing"

// BenchmarkRead is one order as it is read, narrowed and written anew.
func BenchmarkRead(b *testing.B) {
	p := loaded(b, "alpaca-v2")
	call := []byte(`{"symbol":"AAPL","side":"buy","qty":"10","type":"limit","limit_price":"150.25","time_in_force":"gtc"}`)
	b.ReportAllocs()
	for b.Loop() {
		r, refusal := p.Read("place_stock_order", call)
		if refusal != nil {
			b.Fatal(refusal)
		}
		if _, refusal := r.Intent(); refusal != nil {
			b.Fatal(refusal)
		}
		r.Forward("rails-0001")
	}
}
