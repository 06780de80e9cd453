// Package qualify holds no code of the product: its tests run the real binary,
// built with failpoints, as processes of their own, and do to it what the world
// does: kill, freeze, cut off, fill, set the clock, pull the plug. What they
// measure is written to docs/evidence by `make qualify`.
package qualify
