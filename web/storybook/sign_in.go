package main

import "rendermac/web"

var signIn = []story{
	{"sign-in", signInFrame, web.SignIn{}},
	{"sign-in/used-link", signInFrame, web.SignIn{}},
	{"sign-in/instead", signInFrame, web.SignIn{}},
}

var signInFrame = web.Frame{Title: "Sign in", Installation: "render.studio.example"}
