// Package sim runs the product unattended on a virtual clock, with an agent that is
// greedy on purpose, and holds every limit against what the broker recorded.
//
// What is run is the real thing: gate, journal, paper broker and paper quotes. What is
// checked is not what the gate believed: Checker rebuilds positions, cash, windows and
// counts from the paper ledger's messages, orders and executions, with prices that it
// reads itself, and shares no code with the rails. It is proof and serves no order; only
// the command that starts it knows it.
package sim
