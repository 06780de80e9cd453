package server

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"rendermac/artifact"

	"github.com/labstack/echo/v4"
)

// base is where clients reach this server: scheme, host, and the path of
// public_url if it has one; no slash at the end.
func (s *Server) base(c echo.Context) string {
	if s.o.PublicURL != "" {
		return strings.TrimSuffix(s.o.PublicURL, "/")
	}
	return c.Scheme() + "://" + c.Request().Host
}

// baseForOthers is the base that another machine can use: who asks over
// loopback does not reach us as the others do.
func (s *Server) baseForOthers(c call) string {
	host, _, err := net.SplitHostPort(c.echo.Request().Host)
	if err != nil {
		host = c.echo.Request().Host
	}
	addr, err := netip.ParseAddr(host)
	if loopback := host == "localhost" || err == nil && addr.IsLoopback(); loopback && s.o.PublicURL == "" && s.o.WideURL != "" {
		return s.o.WideURL
	}
	return s.base(c.echo)
}

// trustProxies makes the client's address, scheme and host those that a trusted
// proxy reports, and nobody else's word count. echo trusts the neighbourhood
// unless it is told not to.
func trustProxies(e *echo.Echo, cidrs []string) error {
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	var networks []netip.Prefix
	for _, text := range cidrs {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return fmt.Errorf("trusted_proxies: %q is no network such as 10.0.0.0/8", text)
		}
		network = network.Masked()
		networks = append(networks, network)
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP: network.Addr().AsSlice(), Mask: net.CIDRMask(network.Bits(), network.Addr().BitLen()),
		}))
	}
	e.IPExtractor = echo.ExtractIPFromXFFHeader(trust...)
	e.SchemeExtractor = echo.ExtractSchemeFromHeaders(trust...)
	e.Pre(forwardedHost(networks))
	return nil
}

// forwardedHost takes the host from X-Forwarded-Host where a trusted proxy sent it.
func forwardedHost(trusted []netip.Prefix) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			peer, err := netip.ParseAddrPort(r.RemoteAddr)
			if host := r.Header.Get("X-Forwarded-Host"); err == nil && host != "" && within(trusted, peer.Addr()) {
				r.Host = strings.TrimSpace(host[strings.LastIndexByte(host, ',')+1:])
			}
			return next(c)
		}
	}
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(addr.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// absolute puts our base before a URL of the directory store, which is path and
// query only. Another store's URL is whole already.
func absolute(base, ref string) string {
	if strings.HasPrefix(ref, "/") {
		return base + ref
	}
	return ref
}

// headers are what must be sent with a signed URL; none is {}, not null.
func headers(u artifact.URL) map[string]string {
	if u.Headers == nil {
		return map[string]string{}
	}
	return u.Headers
}
