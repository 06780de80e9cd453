package media

func (d definition[P]) with(fields fieldList, own Preset) (*Service, []Fault) { return nil, nil }
