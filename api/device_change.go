package api

import "encoding/json"

// DeviceChange is what an admin sets at a device; what is absent stays as it is.
type DeviceChange struct {
	Name     *string   `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Draining *bool     `json:"draining,omitempty" doc:"true: no more offers, running attempts go on"`
	Slots    **int     `json:"slots,omitempty" nullable:"true" minimum:"0" maximum:"1000" doc:"null: as many as the agent says itself"`
	Tags     *[]string `json:"tags,omitempty" nullable:"false" maxItems:"32" doc:"words that a job's requires.tags can ask for: letters, digits, '.', '_' and '-', at most 64 bytes each"`
}

// UnmarshalJSON tells slots that are null from slots that are absent.
func (c *DeviceChange) UnmarshalJSON(text []byte) error {
	type plain DeviceChange
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	if _, there := keys["slots"]; there && c.Slots == nil {
		c.Slots = new(*int)
	}
	return nil
}
