package media

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// bitrate is bits per second, written as a number or as "160k" or "4M".
type bitrate int64

var bitrateText = regexp.MustCompile(`^([1-9][0-9]{0,8})([kM]?)$`)

func (b *bitrate) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '"' {
		return json.Unmarshal(raw, (*int64)(b))
	}
	m := bitrateText.FindStringSubmatch(strings.Trim(string(raw), `"`))
	if m == nil {
		return fmt.Errorf("no bit rate")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	*b = bitrate(n * map[string]int64{"": 1, "k": 1000, "M": 1_000_000}[m[2]])
	return err
}
