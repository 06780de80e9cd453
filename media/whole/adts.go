package whole

// adts walks the frames of raw aac, each of which says how long it is.
func adts(f *file) error {
	at, err := behindID3(f)
	if err != nil {
		return err
	}
	for at < f.size && !tagged(f, at) {
		head, err := f.bytes(at, 7)
		if err != nil {
			return errLastFrame
		}
		length := int64(head[3]&3)<<11 | int64(head[4])<<3 | int64(head[5])>>5
		switch {
		case head[0] != 0xff || head[1]>>4 != 0xf || length < 7:
			return spoilt(at)
		case at+length > f.size:
			return errLastFrame
		}
		at += length
	}
	return nil
}
