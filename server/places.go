package server

// Places is where things are on the server's machine, for people to find them.
type Places struct {
	Data, Config             string // the data directory and the config file
	Folder                   string // of the artifacts; empty where they are in a bucket
	Bucket, Endpoint, Prefix string
}
