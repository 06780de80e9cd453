package store

import "context"

// ArtifactStore is what a database knows of the artifact store.
type ArtifactStore struct {
	Own   string // what a store bears that it has made; "" as long as no server has drawn it
	Known string // what its folder bears; "" as long as it has seen none
	Used  bool   // see HasFiles
}

// PeekArtifactStore reads them from a database file beside the server that may have it
// open: for the doctor, which changes nothing.
func PeekArtifactStore(ctx context.Context, path string) (f ArtifactStore, err error) {
	db := &DB{reader: openReader(path)}
	defer db.reader.Close()
	err = db.read(ctx, func(q querier) error {
		return q.one(`SELECT coalesce((SELECT value FROM settings WHERE name = 'artifact_store_own'), ''),
			coalesce((SELECT value FROM settings WHERE name = 'artifact_store'), ''), `+hasFiles, nil, &f.Own, &f.Known, &f.Used)
	})
	return f, err
}
