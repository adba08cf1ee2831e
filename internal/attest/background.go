package attest

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

const healthSchema = "rails.checkpoints/v1"

// Health is what another process is told of a keeper's last attempts.
type Health struct {
	Schema    string          `json:"schema"`
	At        time.Time       `json:"at"`
	Failure   string          `json:"failure,omitzero"` // why no checkpoint was signed
	Witnesses []WitnessHealth `json:"witnesses"`
}

// WitnessHealth is one witness's last answer.
type WitnessHealth struct {
	Witness  string    `json:"witness"`
	Size     int64     `json:"size"` // of the checkpoint that it was asked for
	AskedAt  time.Time `json:"asked_at"`
	Cosigned time.Time `json:"cosigned_at,omitzero"`
	Failure  string    `json:"failure,omitzero"`
}

// ReadHealth reads what a keeper wrote. One that cannot be read is none.
func ReadHealth(text []byte) (h Health, known bool) {
	if json.Unmarshal(text, &h) != nil || h.Schema != healthSchema {
		return Health{}, false
	}
	return h, true
}

// startAsking starts the goroutine that asks witnesses. It ends with ctx.
func (k *Keeper) startAsking(ctx context.Context) (answered <-chan []Answer, done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.askWhenTold(ctx)
	}()
	return k.answered, ended
}

// ask hands a question to the one who asks. A newer one takes the place of one that was
// not taken up.
func (k *Keeper) ask(q question) {
	if len(k.o.Witnesses) == 0 {
		return
	}
	select {
	case <-k.asking:
	default:
	}
	k.asking <- q // there is room: only this goroutine puts anything in
}

// askWhenTold asks for each question, and again for the newest until all have cosigned.
func (k *Keeper) askWhenTold(ctx context.Context) {
	var q question
	retry := time.NewTimer(retryEvery)
	defer retry.Stop()
	retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case q = <-k.asking:
		case <-retry.C:
		}
		answers, err := Ask(ctx, k.o.Folder, k.o.Journal, q.c, k.o.Witnesses, k.o.Wall, q.ready)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			answers = []Answer{{Size: q.c.Size, AskedAt: k.o.Wall(), Err: err}}
		}
		if slices.ContainsFunc(answers, func(a Answer) bool { return a.Err != nil }) {
			retry.Reset(retryEvery)
		} else {
			retry.Stop()
		}
		select {
		case k.answered <- answers:
		case <-ctx.Done():
			return
		}
	}
}

// answersCame tells of each witness that did not cosign, once for each new reason.
func (k *Keeper) answersCame(answers []Answer) {
	before := k.health.Witnesses
	k.health.Witnesses = nil
	for _, a := range answers {
		h := WitnessHealth{Witness: a.Witness, Size: a.Size, AskedAt: a.AskedAt, Cosigned: a.Cosigned}
		if a.Err != nil {
			h.Failure = a.Err.Error()
		}
		same := slices.ContainsFunc(before, func(b WitnessHealth) bool { return b.Witness == h.Witness && b.Failure == h.Failure })
		if h.Failure != "" && !same {
			k.o.Log.Warn("a witness has not cosigned; orders go on", "witness", a.Witness, "size", a.Size, "error", a.Err)
		}
		k.health.Witnesses = append(k.health.Witnesses, h)
	}
	k.writeHealth()
}

// failed tells of a checkpoint that could not be signed, once for each new reason.
func (k *Keeper) failed(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == k.told {
		return
	}
	k.told, k.health.Failure = text, text
	if err != nil {
		k.o.Log.Error("no checkpoint was signed; orders go on", "error", err)
	}
	k.writeHealth()
}

func (k *Keeper) writeHealth() {
	k.health.Schema, k.health.At = healthSchema, k.o.Wall()
	text, err := json.Marshal(k.health)
	if err == nil {
		err = k.o.Folder.KeepHealth(text)
	}
	if err != nil {
		k.o.Log.Warn("the state of checkpoints was not written", "error", err)
	}
}
