package api

import (
	"encoding/json"
	"testing"
)

// What a client sets is what a server reads: absent, null and a number stay apart.
func TestDeviceChangeTellsNullFromAbsent(t *testing.T) {
	none, two := (*int)(nil), new(2)
	for want, c := range map[string]DeviceChange{
		`{}`:             {},
		`{"slots":null}`: {Slots: &none},
		`{"slots":2}`:    {Slots: &two},
	} {
		text, err := json.Marshal(c)
		if err != nil || string(text) != want {
			t.Errorf("%+v is written %s, %v, want %s", c, text, err, want)
		}
		var back DeviceChange
		if err := json.Unmarshal([]byte(want), &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); string(again) != want {
			t.Errorf("%s is read as %s", want, again)
		}
	}
}
