package main

import "rendermac/web"

var overview = []story{
	{"overview/empty", admin("Overview", "/"), web.Overview{}},
}
