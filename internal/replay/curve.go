package replay

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
)

func entryID(e *journal.Entry) string { return e.Account + "/" + strconv.FormatUint(e.Seq, 10) }

// sample takes both histories into the curves, as they stand after the newest replayed
// entry. Without a price for all that is held there is no point.
func (p *play) sample(recorded *account.State) {
	if !p.due || recorded == nil {
		return
	}
	p.due = false
	was := p.prices.worth(recorded, p.at, p.calendar)
	is := was
	if p.other != nil {
		is = p.prices.worth(p.other.state, p.at, p.calendar)
		p.report.Followed.Mode = p.other.state.Mode.String()
	}
	if !was.GrossOK || !is.GrossOK || !was.EquityOK || !is.EquityOK {
		return
	}
	r := p.report
	day := r.today()
	day.PeakRecorded = money.MaxNotional(day.PeakRecorded, was.Gross)
	day.PeakFollowed = money.MaxNotional(day.PeakFollowed, is.Gross)
	r.Recorded.PeakGross = money.MaxNotional(r.Recorded.PeakGross, was.Gross)
	r.Followed.PeakGross = money.MaxNotional(r.Followed.PeakGross, is.Gross)
	r.Recorded.Equity, r.Followed.Equity = was.Equity, is.Equity
	r.point(Point{
		At: p.at, Date: day.Date, GrossRecorded: was.Gross, GrossFollowed: is.Gross,
		EquityRecorded: was.Equity, EquityFollowed: is.Equity,
	})
}

// point adds a sample. When there are twice as many points as are kept, two become one.
func (r *Report) point(s Point) {
	if r.samples%r.stride == 0 {
		r.Points = append(r.Points, s)
	} else {
		r.Points[len(r.Points)-1].join(s)
	}
	r.samples++
	if len(r.Points) < 2*PointsMax || r.samples%r.stride != 0 {
		return
	}
	for i := range PointsMax {
		one := r.Points[2*i]
		one.join(r.Points[2*i+1])
		r.Points[i] = one
	}
	r.Points, r.stride = r.Points[:PointsMax], 2*r.stride
}

func (a *Point) join(b Point) {
	a.At, a.Date, a.EquityRecorded, a.EquityFollowed = b.At, b.Date, b.EquityRecorded, b.EquityFollowed
	a.GrossRecorded = money.MaxNotional(a.GrossRecorded, b.GrossRecorded)
	a.GrossFollowed = money.MaxNotional(a.GrossFollowed, b.GrossFollowed)
}

// close fills in what is known at the end.
func (p *play) close() {
	if !p.over {
		p.sample(p.last)
	}
	r := p.report
	if doc, err := limits.Load("recorded", []byte(p.last.LimitsText)); err == nil {
		if changes := limits.Diff(doc, p.doc); changes != nil {
			r.Differ = changes
		}
	}
	place := map[string]int{}
	for i, one := range rail.All() {
		place[string(one.ID)] = i + 1
	}
	for _, row := range r.rails {
		r.Rails = append(r.Rails, *row)
	}
	slices.SortFunc(r.Rails, func(a, b RailRow) int {
		return cmp.Or(cmp.Compare(place[a.Rail], place[b.Rail]), cmp.Compare(a.Rail, b.Rail))
	})
}
