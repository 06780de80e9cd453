package agent

// keepAwake has nothing to do: a Linux machine that runs an agent does not
// sleep by itself.
func keepAwake() (stop func()) { return func() {} }
