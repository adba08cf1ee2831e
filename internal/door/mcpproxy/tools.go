package mcpproxy

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

var errLongList = errors.New("the broker's server lists more tools than are read")

// relist reads the server's whole list and holds it against the pins.
func (s *session) relist(ctx context.Context) error {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.mu.Lock()
	done := s.listed
	s.listed = true // a change from here on asks for another
	s.mu.Unlock()
	if done {
		return nil
	}
	err := s.listAll(ctx)
	if err != nil {
		s.mu.Lock()
		s.listed = false
		s.mu.Unlock()
	}
	return err
}

func (s *session) listAll(ctx context.Context) error {
	var all []jsontext.Value
	var cursor jsontext.Value
	for range ListPagesMax {
		params := []byte("{}")
		if cursor != nil {
			params = with(nil, "cursor", cursor)
		}
		result, err := s.ask(ctx, "tools/list", params)
		if err != nil {
			return err
		}
		ms, err := members(result)
		if err != nil {
			return err
		}
		page, err := elements(find(ms, "tools"), ToolsMax)
		if err != nil || len(all)+len(page) > ToolsMax {
			return errLongList
		}
		all = append(all, page...)
		if cursor = find(ms, "nextCursor"); cursor == nil || cursor.Kind() != '"' {
			return s.held(all)
		}
	}
	return errLongList
}

func (s *session) held(all []jsontext.Value) error {
	list, err := s.cfg.Pins.hold(all)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.list = list
	s.mu.Unlock()
	if s.cfg.Changed != nil && len(list.waiting) > 0 {
		s.cfg.Changed(len(list.waiting))
	}
	return nil
}

// quarantined says why a tool may not be used; empty when it may.
func (s *session) quarantined(tool string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.list.waiting[tool]; why != "" {
		return why
	}
	if _, ok := s.list.agreed[tool]; !ok {
		return "not listed"
	}
	return ""
}

// showTools passes a list of tools on without those that cannot be used: a definition
// that nobody agreed to does not reach a model. One that differs from what was listed
// before is listed anew before the next call.
func (s *session) showTools(agentID string, result jsontext.Value) {
	ms, err := members(result)
	var page []jsontext.Value
	if err == nil {
		page, err = elements(find(ms, "tools"), ToolsMax)
	}
	if err != nil {
		s.toAgent(failure(agentID, fault(-32000, "the broker's server answered with no list of tools")))
		return
	}
	// Without a listing of our own nothing is agreed to yet; the server's loop must not wait
	// for one that its own answers make.
	s.spawn(func() {
		s.start()
		select {
		case <-s.begun:
		case <-s.ctx.Done():
			return
		}
		s.toAgent(response(agentID, s.shown(ms, page, result)))
	})
}

func (s *session) shown(ms []member, page []jsontext.Value, result jsontext.Value) []byte {
	kept := []byte{'['}
	n := 0
	for _, raw := range page {
		t := pin(raw)
		s.mu.Lock()
		agreed := s.list.agreed[t.Name]
		if agreed != "" && agreed != t.SHA256 || agreed == "" && s.list.waiting[t.Name] == "" {
			s.listed = false
		}
		s.mu.Unlock()
		if _, known := s.cfg.Profile.Class(t.Name); !known || s.cfg.Profile.Denied(t.Name) || agreed != t.SHA256 {
			continue
		}
		if n++; n > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, raw...)
	}
	if n == len(page) {
		return result
	}
	return with(ms, "tools", slices.Concat(kept, []byte{']'}))
}
