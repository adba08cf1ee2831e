package account

import "github.com/broker-rails/broker-rails/internal/journal"

// String returns the mode as it is written in entries.
func (m Mode) String() string {
	switch m {
	case Active:
		return journal.ModeActive
	case ReduceOnly:
		return journal.ModeReduceOnly
	}
	return journal.ModeHalted
}

// ParseMode reads active, reduce_only or halted. Anything else is Halted and false.
func ParseMode(text string) (m Mode, ok bool) {
	switch text {
	case journal.ModeActive:
		return Active, true
	case journal.ModeReduceOnly:
		return ReduceOnly, true
	}
	return Halted, text == journal.ModeHalted
}

// Effective returns the stricter of an account's own mode and the control chain's.
func Effective(own, control Mode) Mode { return min(own, control) }

// checkMode reads a mode entry against the mode before it: only an operator may make
// it less strict, or take the peak back.
func checkMode(body *journal.Mode, before Mode) (Mode, error) {
	m, ok := ParseMode(body.Mode)
	switch {
	case !ok:
		return Halted, broken("mode is not known")
	case body.By == "":
		return Halted, broken("mode was set by no one")
	case body.By != journal.ByOperator && (m > before || body.RebasePeak):
		return Halted, broken("only an operator may loosen the mode")
	}
	return m, nil
}

func (st *step) mode() error {
	body, err := journal.DecodeBody[journal.Mode](st.entry)
	if err != nil {
		return err
	}
	s := st.state
	m, err := checkMode(&body, s.Mode)
	if err != nil {
		return err
	}
	if !st.commit() {
		return nil
	}
	s.Mode, s.ModeBy, s.ModeReason, s.ModeAt = m, body.By, body.Reason, st.at
	if body.By == journal.ByOperator {
		// A person has looked: what came before no longer counts against the account.
		s.Cycles.clear()
		s.Denials.clear()
	}
	if body.RebasePeak {
		s.Peak = Peak{}
	}
	return nil
}
