package api

import (
	"sync/atomic"
	"time"
)

// Waits is called once an outage of the server or its store, with what the first
// try failed of and for how long it is tried again, and once with nil when it
// goes on. Where parts are sent at once, any of them may be the caller.
type Waits func(err error, atMost time.Duration)

// outage tells of one, however many tries fail meanwhile.
type outage struct {
	tell Waits // nil tells nobody
	is   atomic.Bool
}

func (o *outage) begins(err error, atMost time.Duration) {
	if o.is.CompareAndSwap(false, true) && o.tell != nil {
		o.tell(err, atMost)
	}
}

func (o *outage) ends() {
	if o.is.CompareAndSwap(true, false) && o.tell != nil {
		o.tell(nil, 0)
	}
}
