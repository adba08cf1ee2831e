package tamper

import (
	"fmt"

	"github.com/broker-rails/broker-rails/verify"
)

// attack is one way of forging a journal, and what the design says of it.
type attack struct {
	name  string
	does  string // ENTRY stands for the entry that it begins at
	forge func(s *stage) (*forgery, error)
	// catches and passes are the defences that must catch it and those that must not, so
	// that the demonstration tells when one does not. Others may say what they like.
	catches, passes []Defence
}

// forgery is what a forger leaves behind.
type forgery struct {
	at       int // the entry that it begins at
	book     book
	held     []verify.Checkpoint // beside the journal
	outside  *verify.Checkpoint  // what the auditor was given instead of the true one
	claim    string              // what the forged entry now says
	attempts []string
}

// attacks are in the order of what they need: the file, the product, the key.
func attacks() []attack {
	inside := []Defence{Chain, Replay, Signature}
	return []attack{
		{
			name: "none", does: "the journal as it is", passes: []Defence{Chain, Replay, Signature, Outside, Witnessed, Broker},
			forge: func(s *stage) (*forgery, error) { return &forgery{at: s.victim, book: s.book, held: s.held}, nil },
		},
		{
			name: "flip a verdict", does: "ENTRY says allowed instead of denied; nothing else is changed",
			catches: []Defence{Chain, Signature, Outside, Witnessed},
			forge: func(s *stage) (*forgery, error) {
				return &forgery{at: s.victim, book: s.book.flipped(s.victim), held: s.held}, nil
			},
		},
		{
			name: "cut the tail", does: "every entry after ENTRY is gone, with the checkpoint that vouched for them; the heads are set back",
			passes: inside, catches: []Defence{Outside, Witnessed},
			forge: func(s *stage) (*forgery, error) {
				return &forgery{at: s.first - 1, book: s.book[:s.first], held: s.held[:1]}, nil
			},
		},
		{
			name: "recompute the chain", does: "ENTRY says allowed, every hash after it is computed again, and checkpoints are signed with another key",
			passes: []Defence{Chain}, catches: []Defence{Replay, Signature, Outside, Witnessed}, forge: recomputed,
		},
		{
			name: "derive everything again", does: "the history is written anew from ENTRY on, judgements and all, and signed with another key",
			passes: []Defence{Chain, Replay}, catches: []Defence{Signature, Outside, Witnessed},
			forge: func(s *stage) (*forgery, error) {
				f, err := s.anew(s.victim, smallerOrder)
				if err == nil {
					f.held, f.attempts, err = s.sign(f.book, false)
				}
				return f, err
			},
		},
		{
			name: "rewrite with the key", does: "the same by who holds the journal's key: checkpoints are made anew and signed with it",
			passes: inside, catches: []Defence{Outside, Witnessed}, forge: withKey(func(s *stage) int { return s.victim }, smallerOrder),
		},
		{
			name: "rewrite a sent order", does: "with the key, from ENTRY on, whose order the broker took",
			passes: inside, catches: []Defence{Outside, Witnessed, Broker}, forge: withKey(func(s *stage) int { return s.sent }, otherAgent),
		},
		{
			name: "tell two histories", does: "with the key; the auditor was given the forged history's checkpoint from the first day",
			passes: []Defence{Chain, Replay, Signature, Outside}, catches: []Defence{Witnessed}, forge: twoHistories,
		},
		{
			name: "cut what nobody saw", does: "what stood after ENTRY is gone, and no checkpoint vouches for it yet; no key is needed",
			passes: []Defence{Chain, Replay, Signature, Outside, Witnessed},
			forge: func(s *stage) (*forgery, error) {
				return &forgery{at: s.newest - 1, book: s.book[:s.newest], held: s.held}, nil
			},
		},
	}
}

// recomputed flips the verdict and computes the chain again.
func recomputed(s *stage) (*forgery, error) {
	b, err := s.book.flipped(s.victim).resealed()
	if err != nil {
		return nil, err
	}
	f := &forgery{at: s.victim, book: b}
	f.held, f.attempts, err = s.sign(b, false)
	return f, err
}

// anew writes the history again with a lie in one entry.
func (s *stage) anew(at int, tell lie) (*forgery, error) {
	b, claim, err := s.book.rewritten(s.options.Calendar, at, tell)
	if err != nil {
		return nil, err
	}
	return &forgery{at: at, book: b, claim: "; it now says that " + claim}, nil
}

// withKey rewrites and signs as the journal itself would. Where there is no such entry,
// the attack is left out.
func withKey(where func(*stage) int, tell lie) func(s *stage) (*forgery, error) {
	return func(s *stage) (*forgery, error) {
		at := where(s)
		if at < 0 {
			return nil, nil
		}
		f, err := s.anew(at, tell)
		if err == nil {
			f.held, f.attempts, err = s.sign(f.book, true)
		}
		return f, err
	}
}

func twoHistories(s *stage) (*forgery, error) {
	f, err := withKey(func(s *stage) int { return s.victim }, smallerOrder)(s)
	if err == nil {
		f.outside = &f.held[len(f.held)-1]
	}
	return f, err
}

// sign makes the two checkpoints of a forged book, with the log's key or one of the
// forger's own, and asks the witness to cosign them.
func (s *stage) sign(b book, key bool) (held []verify.Checkpoint, attempts []string, err error) {
	signer := s.forged
	if key {
		signer = s.signer
	}
	for _, size := range []int{s.first, s.newest} {
		c, refusal, err := s.checkpoint(b, size, signer)
		if err != nil {
			return nil, nil, err
		}
		if refusal != "" {
			attempts = append(attempts, fmt.Sprintf("asked the witness to cosign %d entries and was refused with %s", size, refusal))
		} else {
			attempts = append(attempts, fmt.Sprintf("had %d entries cosigned by the witness", size))
		}
		held = append(held, c)
	}
	return held, attempts, nil
}

// missed names the answers that are not the design's.
func (a *attack) missed(cells []Cell) (out []string) {
	said := map[Defence]Answer{}
	for _, c := range cells {
		said[c.Defence] = c.Answer
	}
	for _, d := range a.catches {
		if d == Broker && said[d] == NotAsked {
			continue // there is no record to ask
		}
		if said[d] != Caught {
			out = append(out, string(d)+" must catch it")
		}
	}
	for _, d := range a.passes {
		if said[d] != Passes && (d != Broker || said[d] != NotAsked) {
			out = append(out, string(d)+" cannot see it, and does not let it pass")
		}
	}
	return out
}
