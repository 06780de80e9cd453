package main

import "rendermac/web"

var signIn = []story{
	{"sign-in", web.Frame{Title: "Sign in", Installation: "render.studio.example"}, web.SignIn{}},
}
