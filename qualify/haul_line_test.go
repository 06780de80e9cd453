package qualify

import "testing"

// A line is so slow that a film takes longer than a lease: the lease is kept, and
// no part is given up (F5).
func TestHaul_SlowLine(t *testing.T) {
	t.Parallel()
	brief := shelf{config: func(h *haul) string { return siteConfig + h.onDir() }}
	h := newHaul(t, brief, 2*mib, mib/4)
	h.pairMac()
	job := h.upload()
	h.macs.slow(mib / 4) // a download of 8 s
	done := h.run(job)
	if len(done.Attempts) != 1 {
		t.Errorf("a slow line cost %d attempts", len(done.Attempts)-1)
	}
	h.clients.slow(mib)
	h.download(done)
}

// A connection goes dead and nobody is told: no byte comes and no end. What was
// on it goes on over another, whoever sits at its ends.
func TestHaul_DeadLine(t *testing.T) {
	if !everyPass {
		t.Skip("takes minutes: it waits until each party gives a silent line up (RENDERMAC_SOAK=1)")
	}
	for _, on := range shelves {
		for _, stretch := range []string{"upload", "job", "download"} {
			t.Run(on.name+"/"+stretch, func(t *testing.T) {
				t.Parallel()
				random := crashSeed(t)
				h := newHaul(t, on, on.size, on.part)
				h.pairMac()
				dies := func(now string, bytes int64) {
					h.disarm()
					if now == stretch {
						h.arm(random.Int64N(bytes), h.freeze)
					}
				}
				dies("upload", h.size)
				job := h.upload()
				dies("job", 2*h.size)
				done := h.run(job)
				dies("download", h.size)
				h.download(done)
				if len(h.orders) > 0 {
					t.Error("the line never went dead: the test proves nothing")
				}
			})
		}
	}
}

// freeze lets every connection go dead.
func (h *haul) freeze() {
	for _, c := range append([]*cable{h.inner}, h.outer...) {
		if c != nil {
			c.freeze()
		}
	}
}
