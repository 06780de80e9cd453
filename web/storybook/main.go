// Command storybook serves every page of the dashboard in every state, from
// canned data and without a database, for those who work on how it looks.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7421", "the `address` to serve on")
	flag.Parse()
	if err := serve(*listen); err != nil {
		fmt.Fprintln(os.Stderr, "storybook:", err)
		os.Exit(1)
	}
}

func serve(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("The storybook is at http://%s/\n", l.Addr())
	return http.Serve(l, handler())
}
