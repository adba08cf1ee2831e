package clock

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
)

var (
	_ gate.Clock = System{}
	_ gate.Clock = (*Practice)(nil)
	_ gate.Clock = (*Virtual)(nil)
)

func TestSystemReadsWallAndBoot(t *testing.T) {
	c := NewSystem()
	a := c.Read()
	time.Sleep(20 * time.Millisecond)
	b := c.Read()
	if a.Market != a.Wall || a.Wall.Location() != time.UTC || time.Since(a.Wall) > time.Minute || time.Since(a.Wall) < 0 {
		t.Errorf("reading %+v", a)
	}
	if a.Wall.String() != a.Wall.Round(0).String() {
		t.Error("the wall's time carries a monotonic reading")
	}
	if a.BootID != b.BootID || a.BootID != NewSystem().Read().BootID {
		t.Error("the boot id changed")
	}
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		if a.BootID == "" || b.Boot <= a.Boot || b.Boot-a.Boot > time.Minute {
			t.Errorf("boot %q, %s, then %s", a.BootID, a.Boot, b.Boot)
		}
	}
}

// sunday is a day on which the exchange is closed.
var sunday = time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)

func practice(t testing.TB, wall *Virtual) *Practice {
	t.Helper()
	p, err := NewPractice(wall, market.XNYS(), Origin{Wall: sunday, Market: PracticeStart()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPracticeRunsOnASundayAndSkipsClosedHours(t *testing.T) {
	wall := NewVirtual(sunday)
	p := practice(t, wall)
	for _, c := range []struct {
		after  time.Duration
		market string
	}{
		{0, "2026-03-18T15:00:00Z"},
		{time.Hour, "2026-03-18T16:00:00Z"},
		{5*time.Hour - time.Second, "2026-03-18T19:59:59Z"},
		{5 * time.Hour, "2026-03-19T13:30:00Z"},              // the next opening
		{5*time.Hour + 13*time.Hour, "2026-03-23T13:30:00Z"}, // over a weekend
		{5*time.Hour + 13*time.Hour + time.Minute, "2026-03-23T13:31:00Z"},
	} {
		wall.Set(sunday.Add(c.after))
		r := p.Read()
		if got := r.Market.Format(time.RFC3339); got != c.market {
			t.Errorf("after %s: %s, want %s", c.after, got, c.market)
		}
		if !r.Wall.Equal(sunday.Add(c.after)) || p.Ended() != nil {
			t.Errorf("after %s: wall %s, ended %v", c.after, r.Wall, p.Ended())
		}
	}
}

func TestPracticeIsAlwaysOpenAndNeverGoesBack(t *testing.T) {
	calendar := market.XNYS()
	rapid.Check(t, func(rt *rapid.T) {
		wall := NewVirtual(sunday)
		p := practice(t, wall)
		var was time.Time
		for range 20 {
			wall.Advance(time.Duration(rapid.Int64Range(0, int64(30*time.Hour)).Draw(rt, "d")))
			now := p.Read().Market
			if now.Before(was) || market.Session(now, calendar).Kind != market.Regular {
				rt.Fatalf("%s after %s", now, was)
			}
			was = now
		}
	})
}

func TestPracticeMapsOneInstantToOneInstant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wall := NewVirtual(sunday)
		p := practice(t, wall) // has been read before
		for range 10 {
			wall.Set(sunday.Add(time.Duration(rapid.Int64Range(0, int64(60*24*time.Hour)).Draw(rt, "d"))))
			if a, b := p.Read(), practice(t, wall).Read(); a != b {
				rt.Fatalf("%s and %s at one instant of the wall's clock", a.Market, b.Market)
			}
		}
	})
}

func TestPracticeBeforeItsOrigin(t *testing.T) {
	wall := NewVirtual(sunday.Add(-time.Hour))
	if now := practice(t, wall).Read().Market; !now.Equal(PracticeStart()) {
		t.Errorf("practice has a past: %s", now)
	}
}

func TestPracticeStopsAtTheCalendarsEnd(t *testing.T) {
	wall := NewVirtual(sunday)
	p := practice(t, wall)
	last := time.Date(2027, time.December, 31, 20, 59, 59, 0, time.UTC)
	open, ok := market.XNYS().OpenFor(PracticeStart(), last)
	if !ok {
		t.Fatal("the calendar has another end")
	}
	wall.Set(sunday.Add(open))
	if now := p.Read().Market; !now.Equal(last) || p.Ended() != nil {
		t.Errorf("%s, %v", now, p.Ended())
	}
	wall.Advance(365 * 24 * time.Hour)
	var ended *PracticeEndedError
	if now := p.Read().Market; !now.Equal(last) || !errors.As(p.Ended(), &ended) || !ended.At.Equal(last) || ended.Hint() == "" {
		t.Errorf("%s, %v", now, p.Ended())
	}
}

func TestFailClosedPracticeNeedsACalendar(t *testing.T) {
	for _, c := range []struct {
		calendar market.Calendar
		origin   Origin
	}{
		{market.Calendar{}, Origin{sunday, PracticeStart()}},
		{market.XNYS(), Origin{}},
		{market.XNYS(), Origin{sunday, time.Date(2030, time.January, 2, 15, 0, 0, 0, time.UTC)}},
	} {
		if p, err := NewPractice(NewVirtual(sunday), c.calendar, c.origin); err == nil {
			t.Errorf("origin %+v: reads %+v", c.origin, p.Read())
		}
	}
}

func TestVirtual(t *testing.T) {
	v := NewVirtual(sunday)
	was := v.Read()
	v.Advance(time.Minute)
	v.Advance(-time.Hour)
	if r := v.Read(); r.Market.Sub(was.Market) != time.Minute || r.Wall.Sub(was.Wall) != time.Minute || r.Boot-was.Boot != time.Minute {
		t.Errorf("advanced to %+v", r)
	}
	v.StepWall(-time.Hour)
	if r := v.Read(); r.Market.Sub(was.Market) != -59*time.Minute || r.Wall != r.Market || r.Boot-was.Boot != time.Minute {
		t.Errorf("stepped to %+v", r)
	}
	v.StepWallAlone(2 * time.Hour)
	if r := v.Read(); r.Wall.Sub(r.Market) != 2*time.Hour || r.Boot-was.Boot != time.Minute {
		t.Errorf("stepped alone to %+v", r)
	}
	v.Set(sunday.Add(time.Hour))
	if r := v.Read(); !r.Market.Equal(sunday.Add(time.Hour)) || r.Wall != r.Market || r.Boot < was.Boot+time.Minute || r.BootID != was.BootID {
		t.Errorf("set to %+v", r)
	}
	v.Reboot()
	if r := v.Read(); r.BootID == was.BootID || r.Boot != 0 {
		t.Errorf("rebooted to %+v", r)
	}
}

func BenchmarkPracticeRead(b *testing.B) {
	wall := NewVirtual(sunday.Add(60 * 24 * time.Hour))
	p := practice(b, wall)
	b.ReportAllocs()
	for range b.N {
		_ = p.Read()
	}
}
