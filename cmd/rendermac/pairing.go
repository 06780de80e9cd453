package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rendermac/failpoint"
	"rendermac/lasting"
)

// pairing is what makes this machine a device of a server. It bears the device
// token, so its file is 0600.
type pairing struct {
	URL         string `json:"url"`
	DeviceID    string `json:"device_id"`
	DeviceName  string `json:"device_name"`
	DeviceToken string `json:"device_token"`
}

func pairingFile(data string) string { return filepath.Join(data, "agent.json") }

var errNotPaired = errors.New("this machine is not paired: make a code with rendermac devices pair on the server, then type here what it prints")

// loadPairing reads the pairing of a data directory; errNotPaired where it has none.
func loadPairing(data string) (*pairing, error) {
	text, err := os.ReadFile(pairingFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotPaired
	}
	if err != nil {
		return nil, err
	}
	p := &pairing{}
	if err := json.Unmarshal(text, p); err != nil || p.URL == "" || p.DeviceToken == "" {
		return nil, fmt.Errorf("%s is damaged: pair this machine again", pairingFile(data))
	}
	return p, nil
}

// pairingSlot is room for a pairing, made before the code is spent: a code works
// once, and its token must not be lost to a full or read-only disk.
type pairingSlot struct {
	temp  *os.File
	path  string
	saved bool
}

func reservePairing(data string) (*pairingSlot, error) {
	if err := lasting.MakeFolder(data); err != nil {
		return nil, fmt.Errorf("the data directory cannot be made: %w", err)
	}
	// One name, so that the next pairing takes over what one that was cut off has left.
	temp, err := os.OpenFile(pairingFile(data)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be written: %w", err)
	}
	return &pairingSlot{temp: temp, path: pairingFile(data)}, nil
}

// save puts p in place of an earlier pairing. The code is spent: the name is
// synced as well, or a power cut would lose the token for good.
func (s *pairingSlot) save(p pairing) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	_, err = s.temp.Write(append(text, '\n'))
	if err = errors.Join(err, s.temp.Sync(), s.temp.Close()); err != nil {
		return err
	}
	failpoint.At("cmd.pairing.before")
	err = os.Rename(s.temp.Name(), s.path)
	failpoint.At("cmd.pairing.after")
	if err != nil {
		return err
	}
	s.saved = true
	return lasting.Folder(filepath.Dir(s.path))
}

// drop removes what was not saved.
func (s *pairingSlot) drop() {
	if !s.saved {
		s.temp.Close()
		os.Remove(s.temp.Name())
	}
}
