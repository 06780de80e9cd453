package web

// SignIn is the page for whoever has no session. It brings a frame of its own, for
// the others' shows whose session it is.
type SignIn struct {
	SignedIn bool // there is a session: the page leads on
	Key      string
}

func (SignIn) template() string { return "sign-in.html" }
