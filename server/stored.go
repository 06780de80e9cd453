package server

import (
	"context"
	"time"

	"rendermac/store"
)

// storedAge is for how long one sum serves every scrape: it goes through all the
// files that are kept.
const storedAge = 5 * time.Minute

// stored is how many bytes are kept.
type stored struct{ outputs, uploads int64 }

// storedBytes may be so old.
func (s *Server) storedBytes(age time.Duration) (stored, error) {
	return s.stored.get(s.o.Mono, age, func() (sum stored, err error) {
		if sum.outputs, err = s.o.DB.StoredBytes(context.Background(), store.Outputs); err != nil {
			return sum, err
		}
		sum.uploads, err = s.o.DB.StoredBytes(context.Background(), store.Uploads)
		return sum, err
	})
}
