package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// calendarFile is the operator's list of closures and early closes that were announced
// after the shipped calendar was made. It stands in the data folder, so that every
// process of the account goes by it.
const calendarFile = "calendar.yaml"

// calendarHint shows the file's form.
const calendarHint = `write a list such as: - {date: "2026-12-24", kind: closed, reason: "storm"}; kind is closed or early_close`

// readCalendar returns the shipped calendar with the operator's overrides, if there are
// any. They can close a day or shorten it, and never open one.
func readCalendar(dir string) (market.Calendar, error) {
	shipped := market.XNYS()
	path := filepath.Join(dir, calendarFile)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return shipped, nil
	}
	text, err := readOwned("calendar", path)
	if err != nil {
		return market.Calendar{}, err
	}
	overrides, err := parseCalendar(path, text)
	if err != nil {
		return market.Calendar{}, err
	}
	calendar, err := shipped.WithOverrides(overrides)
	if err != nil {
		return market.Calendar{}, &failure{code: exitLimits, what: path, err: err, hint: calendarHint}
	}
	return calendar, nil
}

func parseCalendar(path string, text []byte) (overrides []market.Override, err error) {
	list, err := strict.Read(path, text)
	if err != nil {
		return nil, err
	}
	if list.Shape != strict.List {
		return nil, calendarProblem(path, list, "is not a list of days")
	}
	for _, day := range list.Values {
		o, err := parseOverride(path, day)
		if err != nil {
			return nil, err
		}
		overrides = append(overrides, o)
	}
	return overrides, nil
}

func parseOverride(path string, day *strict.Tree) (o market.Override, err error) {
	if day.Shape != strict.Mapping {
		return o, calendarProblem(path, day, "is not a day with date, kind and reason")
	}
	seen := map[string]bool{}
	for i, key := range day.Keys {
		value := day.Values[i]
		if seen[key.Text] || value.Shape != strict.Scalar {
			return o, calendarProblem(path, key, "stands twice, or holds more than one text")
		}
		seen[key.Text] = true
		switch key.Text {
		case "date":
			o.Date, err = market.ParseTradeDate(value.Text)
		case "kind":
			err = o.Kind.UnmarshalText([]byte(value.Text))
		case "reason":
			o.Reason = value.Text
		default:
			return o, calendarProblem(path, key, "is none of date, kind and reason")
		}
		if err != nil {
			return o, calendarProblem(path, value, "is no "+key.Text)
		}
	}
	if len(seen) != 3 {
		return o, calendarProblem(path, day, "needs date, kind and reason")
	}
	return o, nil
}

func calendarProblem(path string, at *strict.Tree, problem string) error {
	return limits.Errors{{Name: path, Line: at.Line, Column: at.Column, Problem: problem, Hint: calendarHint}}
}
