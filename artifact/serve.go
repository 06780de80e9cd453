package artifact

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
)

// contentTypes are what may be shown as it is; anything else is only ever
// downloaded (a page of HTML from a buyer must not run under our address).
var contentTypes = map[string]string{
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".mkv": "video/x-matroska",
	".avi": "video/x-msvideo", ".mxf": "video/mxf", ".mpg": "video/mpeg", ".ts": "video/mp2t",
	".m4a": "audio/mp4", ".mp3": "audio/mpeg", ".aac": "audio/aac", ".wav": "audio/wav", ".aif": "audio/aiff", ".aiff": "audio/aiff",
	".flac": "audio/flac", ".ogg": "audio/ogg", ".opus": "audio/ogg",
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
}

// SignGet implements Store. The URL serves GET and HEAD.
func (d *Dir) SignGet(_ context.Context, key, name string, expires time.Time) (URL, error) {
	if err := CheckKey(key); err != nil {
		return URL{}, err
	}
	return d.sign(http.MethodGet, key, url.Values{"name": {name}}, expires), nil
}

// SignSave implements Store.
func (d *Dir) SignSave(_ context.Context, key, name string, expires time.Time) (URL, error) {
	if err := CheckKey(key); err != nil {
		return URL{}, err
	}
	return d.sign(http.MethodGet, key, url.Values{"name": {name}, "save": {"true"}}, expires), nil
}

// Get serves a GET or HEAD of a published object, with Range. Errors are as in
// Put, and nothing has been sent then.
func (d *Dir) Get(w http.ResponseWriter, r *http.Request) error {
	key, q, err := d.verify(r.Method, r.URL)
	if err != nil {
		return err
	}
	f, info, err := d.open(key)
	if err != nil {
		return refusal(err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	describe(w.Header(), info, q.Get("name"), q.Has("save"))
	http.ServeContent(w, r, "", stat.ModTime(), f)
	return nil
}

func describe(h http.Header, info Info, name string, save bool) {
	contentType, disposition := presentation(info.Key, name, save)
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", disposition)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	if info.SHA256 != "" {
		h.Set("ETag", `"`+info.SHA256+`"`)
	}
}

const octets = "application/octet-stream"

// ContentType is what an object is served as that is downloaded under a name.
func ContentType(key, name string) string {
	return cmp.Or(contentTypes[ext(key)], contentTypes[ext(name)], octets)
}

// presentation is the Content-Type of an object that is downloaded under a name,
// and its Content-Disposition.
func presentation(key, name string, save bool) (contentType, disposition string) {
	if name == "" {
		name = path.Base(key)
	}
	contentType, disposition = ContentType(key, name), "inline"
	if save || contentType == octets {
		disposition = "attachment"
	}
	return contentType, disposition + fileName(name)
}

func ext(name string) string { return strings.ToLower(path.Ext(name)) }

// fileName gives a name in both forms of RFC 6266: plain for old clients, with
// what could break the header replaced, and exact as RFC 8187 has it.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, name)
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || strings.ContainsRune(`"%`, r) {
			return '_'
		}
		return r
	}, name)
	return `; filename="` + plain + `"; filename*=UTF-8''` + extValue(name)
}

// extValue escapes all but RFC 8187's attr-char.
func extValue(s string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
	}
	return b.String()
}
