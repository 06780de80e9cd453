package fence

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// Token is a fresh secret: its plaintext, shown once, and the SHA-256 in hex
// that is all anyone stores of it.
type Token struct{ Plaintext, Hash string }

// NewToken draws 24 bytes from random, which is crypto/rand but in tests.
func NewToken(random io.Reader) (Token, error) {
	var secret [24]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return Token{}, fmt.Errorf("draw a token: %w", err)
	}
	plaintext := base64.RawURLEncoding.EncodeToString(secret[:])
	return Token{Plaintext: plaintext, Hash: HashToken(plaintext)}, nil
}

// HashToken is what is stored of a secret: its SHA-256 in hex, 64 characters.
func HashToken(plaintext string) string {
	sum := sha256.Sum256([]byte(plaintext))
	return hex.EncodeToString(sum[:])
}

// matches compares a presented secret with a stored hash in constant time.
func matches(plaintext, hash string) bool {
	return hash != "" && subtle.ConstantTimeCompare([]byte(HashToken(plaintext)), []byte(hash)) == 1
}
