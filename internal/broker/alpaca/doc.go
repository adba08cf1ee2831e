// Package alpaca is one account at Alpaca, as a broker of the gate and as its source of
// instruments and quotes.
//
// What is true is read by REST: executions from the account's activities, whose ids are
// unique, and ends of orders from the orders themselves. The stream of trade updates is a
// doorbell: whatever it says, or that it was cut, only makes the next look come at once. An
// event that was lost, doubled, late or of an unknown kind can therefore do no harm.
//
// A message is sent at most once. It is accepted only with the broker's id and an echo of
// what was sent, rejected only by a refusal that the broker wrote, and in doubt otherwise.
//
// The zero Broker is not usable; New refuses options that leave anything to be guessed, the
// address above all.
package alpaca
