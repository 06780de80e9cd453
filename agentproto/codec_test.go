package agentproto

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEveryMessageSurvivesTheWire(t *testing.T) {
	for name, make := range kinds {
		m := make()
		if m.Type() != name {
			t.Errorf("%T calls itself %q, the table %q", m, m.Type(), name)
		}
		frame, err := Encode(m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(string(frame), `{"type":"`+name+`"`) || !json.Valid(frame) {
			t.Errorf("%s: frame %s", name, frame)
		}
		back, err := Decode(frame)
		if err != nil || reflect.TypeOf(back) != reflect.TypeOf(m) {
			t.Errorf("%s came back as %T, %v", name, back, err)
		}
	}
}

func TestFieldsAreAsThePageHasThem(t *testing.T) {
	at := time.Date(2026, 12, 1, 8, 0, 0, 5e6, time.FixedZone("", 3600))
	frame, err := Encode(&ProgressOK{IDs: IDs{"job_a", "att_a", 2}, LeaseExpiresAt: Time{at}, LeaseTTL: SecondsOf(1500 * time.Millisecond)})
	const want = `{"type":"progress_ok","job_id":"job_a","attempt_id":"att_a","lease_epoch":2,"lease_expires_at":"2026-12-01T07:00:00.005Z","lease_ttl_s":1.5}`
	if err != nil || string(frame) != want {
		t.Errorf("got  %s\nwant %s", frame, want)
	}
	frame, err = Encode(&Progress{IDs: IDs{"job_a", "att_a", 1}, Phase: "running"})
	if err != nil || !strings.Contains(string(frame), `"fraction":null`) {
		t.Errorf("an unknown fraction: %s", frame)
	}
}

func TestDecodeIgnoresWhatItDoesNotKnow(t *testing.T) {
	m, err := Decode([]byte(`{"type":"ready","slots_free":2,"mood":"good"}`))
	if r, ok := m.(*Ready); err != nil || !ok || r.SlotsFree != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestDecodeSaysWhatIsWrongButNotWhatItHeld(t *testing.T) {
	for frame, want := range map[string]string{
		`{"type":"nonsense"}`: "unknown type",
		`{}`:                  "unknown type",
		`[]`:                  "may not be a JSON array",
		`{"type":"commit","commit_token":"s3cret","lease_epoch":"s"}`: "lease_epoch may not be a JSON string",
		`{"type":"commit","commit_token":"s3cret"`:                    "not valid JSON",
	} {
		_, err := Decode([]byte(frame))
		if !errors.Is(err, ErrBadMessage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", frame, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, make := range kinds {
		frame, _ := Encode(make())
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := Decode(frame)
		if err != nil {
			if !errors.Is(err, ErrBadMessage) {
				t.Fatalf("%v is no ErrBadMessage", err)
			}
			return
		}
		again, err := Encode(m)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", m.Type(), err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatalf("%s was written as %s and cannot be read: %v", frame, again, err)
		}
		if third, err := Encode(back); err != nil || string(third) != string(again) {
			t.Fatalf("%s was read as another message than it was written: %s, %v", again, third, err)
		}
	})
}
