package main

import "time"

// wallClock is the server's one wall clock; only a build for tests sets another.
var wallClock = time.Now
