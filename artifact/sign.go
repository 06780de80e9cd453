package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// URLPrefix is where a Dir's objects are served; its URLs begin with it.
const URLPrefix = "/v1/blobs/"

// signer makes and checks a Dir's URLs. The signature covers the method, the
// key and every query parameter, so that none can be changed, added or left out.
type signer struct {
	secret []byte
	now    func() time.Time
}

func (s signer) sign(method, key string, q url.Values, expires time.Time) URL {
	q.Set("expires", strconv.FormatInt(expires.UnixMilli(), 10))
	q.Set("sig", s.mac(method, key, q))
	u := url.URL{Path: URLPrefix + key, RawQuery: q.Encode()}
	return URL{URL: u.String(), Headers: map[string]string{}}
}

// verify returns the key and the parameters that were signed.
func (s signer) verify(method string, u *url.URL) (string, url.Values, error) {
	key, ok := strings.CutPrefix(u.Path, URLPrefix)
	q, err := url.ParseQuery(u.RawQuery)
	if !ok || err != nil || CheckKey(key) != nil {
		return "", nil, errSignature
	}
	sigs := q["sig"]
	q.Del("sig")
	if len(sigs) != 1 || !hmac.Equal([]byte(sigs[0]), []byte(s.mac(method, key, q))) {
		return "", nil, errSignature
	}
	expires, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || s.now().UnixMilli() >= expires {
		return "", nil, errExpired
	}
	return key, q, nil
}

// mac needs no more separators: a checked key has no newline, and Encode sorts
// and escapes.
func (s signer) mac(method, key string, q url.Values) string {
	if method == http.MethodHead { // says less than the GET its URL was signed for
		method = http.MethodGet
	}
	h := hmac.New(sha256.New, s.secret)
	h.Write([]byte("rendermac blob\n" + method + "\n" + key + "\n" + q.Encode()))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// partQuery says what a part's URL is bound to. grant names the open write and
// how often this part of it was dropped, so that a URL dies with either (F16).
func partQuery(p Part, owner, grant string) url.Values {
	return url.Values{
		"part":   {strconv.Itoa(p.Number)},
		"bytes":  {strconv.FormatInt(p.Bytes, 10)},
		"sha256": {p.SHA256},
		"owner":  {owner},
		"grant":  {grant},
	}
}

// signedPart reads back what partQuery wrote, from parameters that have been
// verified.
func signedPart(q url.Values) (p Part, grant string, err error) {
	if p.Number, err = strconv.Atoi(q.Get("part")); err != nil {
		return Part{}, "", errSignature
	}
	if p.Bytes, err = strconv.ParseInt(q.Get("bytes"), 10, 64); err != nil {
		return Part{}, "", errSignature
	}
	p.SHA256 = q.Get("sha256")
	return p, q.Get("grant"), nil
}
