package server

import (
	"fmt"
	"net/netip"
	"net/url"
	"syscall"
)

// reach says who may be reached at an address.
type reach int

const (
	reachAnyone  reach = iota
	reachPrivate       // only where the operator allows it
	reachNobody        // never: what answers there trusts whoever comes from this machine
)

// reaches are the networks that are not anyone's; the first that holds an
// address decides.
var reaches = []struct {
	network netip.Prefix
	reach   reach
	what    string
}{
	{netip.MustParsePrefix("169.254.0.0/16"), reachNobody, "link-local"}, // cloud metadata too
	{netip.MustParsePrefix("fe80::/10"), reachNobody, "link-local"},
	{netip.MustParsePrefix("fd00:ec2::/32"), reachNobody, "a cloud's metadata"},
	{netip.MustParsePrefix("fd20:ce::254/128"), reachNobody, "a cloud's metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), reachNobody, "a cloud's metadata"},
	{netip.MustParsePrefix("100.100.100.200/32"), reachNobody, "a cloud's metadata"},
	{netip.MustParsePrefix("192.0.0.0/24"), reachNobody, "a protocol's own"},
	{netip.MustParsePrefix("0.0.0.0/8"), reachNobody, "unspecified"},
	{netip.MustParsePrefix("::/128"), reachNobody, "unspecified"},
	{netip.MustParsePrefix("224.0.0.0/4"), reachNobody, "multicast"},
	{netip.MustParsePrefix("ff00::/8"), reachNobody, "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), reachNobody, "reserved"}, // broadcast too
	{netip.MustParsePrefix("64:ff9b:1::/48"), reachNobody, "a translator's own"},
	{netip.MustParsePrefix("2001::/32"), reachNobody, "a tunnel's"}, // Teredo
	{netip.MustParsePrefix("127.0.0.0/8"), reachPrivate, "loopback"},
	{netip.MustParsePrefix("::1/128"), reachPrivate, "loopback"},
	{netip.MustParsePrefix("::/96"), reachNobody, "reserved"}, // once IPv4 in IPv6
	{netip.MustParsePrefix("10.0.0.0/8"), reachPrivate, "private"},
	{netip.MustParsePrefix("172.16.0.0/12"), reachPrivate, "private"},
	{netip.MustParsePrefix("192.168.0.0/16"), reachPrivate, "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), reachPrivate, "private"}, // a carrier's, or a VPN's
	{netip.MustParsePrefix("198.18.0.0/15"), reachPrivate, "private"}, // for benchmarks
	{netip.MustParsePrefix("fc00::/7"), reachPrivate, "private"},
	{netip.MustParsePrefix("fec0::/10"), reachPrivate, "private"},
}

// The two networks whose addresses hold an IPv4 address that a gateway goes on to.
var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	sixToIV = netip.MustParsePrefix("2002::/16")
)

// reachOf sees through the forms in which IPv6 writes an IPv4 address.
func reachOf(a netip.Addr) (reach, string) {
	a = a.WithZone("").Unmap()
	bytes := a.As16()
	switch {
	case nat64.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[12:16]))
	case sixToIV.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	for _, r := range reaches {
		if r.network.Contains(a) {
			return r.reach, r.what
		}
	}
	return reachAnyone, ""
}

// addressCheck looks at each address as it is connected to, after every name was
// resolved: a name that points elsewhere a moment later gains nothing.
type addressCheck struct{ allowPrivate bool }

// forbiddenAddress is why an address was not connected to.
type forbiddenAddress struct {
	addr  netip.Addr
	reach reach
	what  string
}

func (f *forbiddenAddress) Error() string {
	if f.reach == reachPrivate {
		return fmt.Sprintf("the address %s is %s: allow such with webhooks.allow_private, or name another receiver", f.addr, f.what)
	}
	return fmt.Sprintf("the address %s is %s, and never sent to: name another receiver", f.addr, f.what)
}

func (c addressCheck) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	reach, what := reachOf(at.Addr())
	if reach == reachNobody || reach == reachPrivate && !c.allowPrivate {
		return &forbiddenAddress{at.Addr(), reach, what}
	}
	return nil
}

// webhookFault says why nothing could ever be delivered to a URL, as far as it
// shows in the URL itself.
func webhookFault(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || hasControls(text) {
		return "is no URL with a host"
	}
	if u.User != nil {
		return "must have no user and password in it: verify the signature instead"
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if reach, what := reachOf(a); reach == reachNobody {
			return "names an address that is " + what + ", and never sent to"
		}
	}
	return ""
}
