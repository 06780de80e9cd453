package main

import "rendermac/web"

var faults = []story{
	{"fault/not-found", admin("Not Found", "/jobs"), web.Fault{Title: "Not Found", Detail: "There is no such job, or it is not yours to see."}},
}
