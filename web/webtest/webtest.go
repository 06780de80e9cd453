// Package webtest drives a real Chromium from tests of the dashboard. A page
// is opened with Open, used as a person would use it, and fails its test for
// whatever it complains of that the test has not announced with Expect:
//
//	func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
//
//	page := webtest.Open(t, url+"/sign-in", webtest.Dark)
//	page.Type("#key", key)
//	page.Click("Sign in")
//	page.WaitText("No Macs yet")
//	page.Axe()
package webtest

import "time"

// Patience is how long each step may take: much, for a busy machine.
const Patience = 60 * time.Second
