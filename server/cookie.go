package server

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"

	"github.com/labstack/echo/v4"
)

// signedIn is the key that a page is asked for with; ok is false where the browser
// has no session, or one that has ended: the page sends it to /sign-in then.
func (s *Server) signedIn(c echo.Context) (key store.Key, ok bool, err error) {
	token := sessionToken(c)
	if token == "" {
		return store.Key{}, false, nil
	}
	key, err = s.o.DB.KeyBySession(c.Request().Context(), token)
	if fence.CodeOf(err) == fence.CodeNotFound {
		return store.Key{}, false, nil
	}
	return key, err == nil, err
}

// bySession authenticates a request that has the cookie and no key. A session that
// has ended is no guess: an open tab goes on asking, and nobody finds 32 bytes.
func (s *Server) bySession(c echo.Context) (store.Key, error) {
	if no := s.crossSite(c); no != nil {
		return store.Key{}, no
	}
	key, ok, err := s.signedIn(c)
	if err == nil && !ok {
		err = unauthenticated("Your session has ended; sign in again.", `Bearer realm="rendermac"`)
	}
	return key, err
}

// crossSite refuses what another site makes a browser send with our cookie. It
// would have to come without saying where from, or say another origin. A browser's
// own word that it is another's counts too, for isOwn trusts the Host header.
func (s *Server) crossSite(c echo.Context) *refusal {
	r := c.Request()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if s.isOwn(c, r.Header.Get("Origin")) && (site == "" || site == "same-origin") {
		return nil
	}
	return refuse(http.StatusForbidden, api.CodeForbidden,
		"With the dashboard's cookie, only the dashboard itself may do this: the Origin is missing or another one than "+originOf(s.base(c))+", or the browser says that another site asks. A program sends an API key instead.")
}

// isOwn says whether an Origin is ours: where this request was sent to, or where
// the config says that we are. A name that another site has pointed at us may be
// the former; a browser sends our cookie to no such name.
func (s *Server) isOwn(c echo.Context, origin string) bool {
	return origin != "" && (origin == originOf(s.base(c)) || origin == originOf(c.Scheme()+"://"+c.Request().Host))
}

// originOf is a URL's scheme, host and port as browsers write them.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
}

// cookieName has the port in it, for browsers keep cookies by host: two servers on
// one machine would sign each other out.
func cookieName(c echo.Context) string {
	_, port, err := net.SplitHostPort(c.Request().Host)
	if n, wrong := strconv.ParseUint(port, 10, 16); err == nil && wrong == nil {
		return "rendermac_" + strconv.FormatUint(n, 10)
	}
	if c.Scheme() == "https" {
		return "rendermac_443"
	}
	return "rendermac_80"
}

// sessionToken is what the browser was given, or nothing.
func sessionToken(c echo.Context) string {
	cookie, err := c.Cookie(cookieName(c))
	if err != nil { // it has none
		return ""
	}
	return cookie.Value
}

// isSecure says whether the browser came by TLS, which may end in front of us. The
// Origin tells: on this machine itself, whoever comes without it would lose a cookie
// that is Secure.
func (s *Server) isSecure(c echo.Context) bool {
	origin := c.Request().Header.Get("Origin")
	return c.Scheme() == "https" || strings.HasPrefix(cmp.Or(origin, s.base(c)), "https:")
}

// keepCookie is the header that makes the browser keep a token; lasting nothing, it
// forgets it.
func (s *Server) keepCookie(c echo.Context, token string, lasting time.Duration) string {
	cookie := http.Cookie{
		Name: cookieName(c), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.isSecure(c), MaxAge: int(lasting / time.Second),
	}
	if lasting <= 0 {
		cookie.MaxAge = -1
	}
	return cookie.String()
}
