package main

import "rendermac/web"

var home = []story{
	{"home", web.Home{Version: "1.0.0", URL: "https://render.example.com"}.Render},
}
