package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"rendermac/fence"
)

// PairingTTL is how long a pairing code works.
const PairingTTL = 10 * time.Minute

// CodeBadCode is one answer for a wrong, used, late or malformed pairing code.
const CodeBadCode = "bad_code"

// Without 0, 1, I, L, O and U: what a person may misread, or read as a word.
const codeAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// Pairing is a fresh code, shown once, and the device that it will make.
type Pairing struct {
	Code      string
	DeviceID  string
	ExpiresAt time.Time
}

// CreatePairing makes a single-use code such as K7QD-2MXP.
func (db *DB) CreatePairing(ctx context.Context, name string) (Pairing, error) {
	var p Pairing
	err := db.w.do(ctx, func(t *tx) error {
		code, err := t.pairingCode()
		if err != nil {
			return err
		}
		id, err := t.id("dev")
		if err != nil {
			return err
		}
		p = Pairing{Code: code[:4] + "-" + code[4:], DeviceID: id, ExpiresAt: t.now.Add(PairingTTL)}
		if err := t.exec(`DELETE FROM pairing_codes WHERE expires_at < ?`, ms(t.now)); err != nil {
			return err
		}
		return t.exec(`INSERT INTO pairing_codes (code_hash, name, device_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`,
			HashSecret(code), orNull(name), id, ms(t.now), ms(p.ExpiresAt))
	})
	return p, err
}

// pairingCode draws eight letters evenly: bytes beyond the last whole multiple
// of the alphabet are drawn again.
func (t *tx) pairingCode() (string, error) {
	const n = len(codeAlphabet)
	var code []byte
	for len(code) < 8 {
		b, err := t.secret(1)
		if err != nil {
			return "", err
		}
		if int(b[0]) < 256/n*n {
			code = append(code, codeAlphabet[int(b[0])%n])
		}
	}
	return string(code), nil
}

// NormalCode is a code as people type it, as it is stored: upper case, without
// hyphen or spaces. ok is false for what can be no code.
func NormalCode(typed string) (code string, ok bool) {
	letters := strings.NewReplacer("-", "", " ", "").Replace(typed)
	code = strings.ToUpper(letters)
	return code, len(letters) == 8 && len(code) == 8 && strings.Trim(code, codeAlphabet) == "" // both: the long s, of two bytes, has S for its upper case
}

// Paired is a device's lasting identity; the token is shown once.
type Paired struct{ DeviceID, Token string }

// Pair redeems a code for a device token.
func (db *DB) Pair(ctx context.Context, typed, name string, facts json.RawMessage) (Paired, error) {
	bad := &fence.Error{Code: CodeBadCode, Message: "this pairing code is wrong, used or older than ten minutes: ask for a new one"}
	code, ok := NormalCode(typed)
	if !ok {
		return Paired{}, bad
	}
	var p Paired
	err := db.w.do(ctx, func(t *tx) error {
		var id string
		var given sql.NullString
		err := t.one(`UPDATE pairing_codes SET used_at = ?1 WHERE code_hash = ?2 AND used_at IS NULL AND expires_at > ?1 RETURNING device_id, name`,
			[]any{ms(t.now), HashSecret(code)}, &id, &given)
		if errors.Is(err, sql.ErrNoRows) {
			return bad
		}
		if err != nil {
			return err
		}
		if given.Valid { // the admin's name for it wins over the Mac's own
			name = given.String
		}
		p, err = t.newDevice(id, name, facts)
		return err
	})
	return p, err
}

func (t *tx) newDevice(id, name string, facts json.RawMessage) (Paired, error) {
	secret, err := t.secret(32)
	if err != nil {
		return Paired{}, err
	}
	p := Paired{DeviceID: id, Token: "rmd_" + base64.RawURLEncoding.EncodeToString(secret)}
	err = t.exec(`INSERT INTO devices (id, name, token_hash, facts, paired_at) VALUES (?, ?, ?, ?, ?)`,
		id, name, HashSecret(p.Token), string(facts), ms(t.now))
	if err != nil {
		return Paired{}, err
	}
	return p, t.event("device.paired", ref{device: id}, asJSON(map[string]string{"name": name}))
}

// DeviceByToken authenticates an agent as KeyByPlaintext does a key.
func (db *DB) DeviceByToken(ctx context.Context, token string) (deviceID string, err error) {
	digest, found, revoked := HashSecret(token), noDigest, false
	err = db.read(ctx, func(q querier) error {
		return orNothing(q.one(`SELECT id, token_hash, revoked_at IS NOT NULL FROM devices WHERE token_hash = ?`, []any{digest}, &deviceID, &found, &revoked))
	})
	if err != nil {
		return "", err
	}
	if !sameDigest(digest, found) || revoked {
		return "", notFound("device")
	}
	return deviceID, nil
}

// KnowsToken says whether a device token works here.
func (db *DB) KnowsToken(ctx context.Context, token string) (bool, error) {
	_, err := db.DeviceByToken(ctx, token)
	if fence.CodeOf(err) == fence.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}
