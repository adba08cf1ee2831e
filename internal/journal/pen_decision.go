package journal

func (p *pen) decision(d *Decision) {
	p.open()
	p.optional("agent", d.Agent)
	if f := d.Broker; f != nil {
		p.name("broker")
		p.open()
		p.instant("at", f.At.Time)
		p.notional("buying_power", f.BuyingPower)
		p.notional("cash", f.Cash)
		p.close()
	}
	p.text("calendar", d.Calendar)
	p.optional("call_id", d.CallID)
	p.clock("clock", &d.Clock)
	p.count("control", d.Control)
	p.text("door", d.Door)
	each(p, "effects", d.Effects, p.effect)
	p.text("engine", d.Engine)
	if d.Equity != nil {
		p.notional("equity", *d.Equity)
	}
	if !d.Fees.IsZero() {
		p.notional("fees", d.Fees)
	}
	each(p, "findings", d.Findings, p.finding)
	each(p, "flags", d.Flags, func(flag *string) { p.value(*flag) })
	p.instrument("instrument", &d.Instrument)
	p.intent("intent", &d.Intent)
	each(p, "marks", d.Marks, p.mark)
	p.text("mode", d.Mode)
	p.optional("note", d.Note)
	p.number("off", int64(d.Off))
	p.number("passes", int64(d.Passes))
	if d.Quote != nil {
		p.quote("quote", d.Quote)
	}
	p.text("raw_digest", d.RawDigest)
	p.optionalFlag("reducing", d.Reducing)
	if !d.ReplyBy.IsZero() {
		p.instant("reply_by", d.ReplyBy.Time)
	}
	if d.Reservation != nil {
		p.reservation("reservation", d.Reservation)
	}
	p.text("state_digest", d.StateDigest)
	p.text("verdict", d.Verdict)
	p.close()
}

func (p *pen) clock(name string, c *Clock) {
	p.name(name)
	p.open()
	p.optional("boot_id", c.BootID)
	p.number("boot_ns", c.BootNS)
	p.optionalFlag("suspect", c.Suspect)
	p.instant("wall", c.Wall.Time)
	p.close()
}

func (p *pen) effect(e *Effect) {
	p.open()
	p.text("kind", e.Kind)
	p.text("rail", e.Rail)
	p.close()
}

func (p *pen) finding(f *Finding) {
	p.open()
	p.optional("limit", f.Limit)
	p.optional("observed", f.Observed)
	p.optional("passes", f.Passes)
	p.text("rail", f.Rail)
	p.text("status", f.Status)
	p.optional("text", f.Text)
	p.close()
}

func (p *pen) quote(name string, q *Quote) {
	p.name(name)
	p.open()
	p.optionalFlag("absent", q.Absent)
	p.pricePointer("ask", q.Ask)
	p.instant("at", q.At.Time)
	p.pricePointer("bid", q.Bid)
	p.optional("currency", q.Currency)
	p.optional("feed", q.Feed)
	p.optionalFlag("halted", q.Halted)
	p.pricePointer("last", q.Last)
	if q.LastValid != nil {
		p.name("last_valid")
		p.mark(q.LastValid)
	}
	p.close()
}

func (p *pen) reservation(name string, r *Reservation) {
	p.name(name)
	p.open()
	p.text("bucket", r.Bucket)
	p.notional("cost", r.Cost)
	p.notional("notional", r.Notional)
	p.price("price", r.Price)
	p.quantity("quantity", r.Quantity)
	p.close()
}
