// Package fakealpaca is a stand-in for Alpaca's trading and market data service on
// loopback: HTTP, the trade_updates stream, deterministic matching, and a table of faults
// that fire on request, each before or after its effect. Its ledger is the oracle of the
// tests: what it says happened, happened. It is not reached from any path of an order.
package fakealpaca
