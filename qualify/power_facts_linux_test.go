package qualify

import (
	"encoding/json"
	"fmt"
	"slices"
)

// fact is one acknowledgement, or the wish that came before it: a wish may have
// been granted even where its acknowledgement was lost.
type fact struct {
	What  string `json:"what"`
	ID    string `json:"id,omitempty"` // of what it is about
	Key   string `json:"key,omitempty"`
	Part  int    `json:"part,omitempty"`
	Sum   string `json:"sum,omitempty"`
	Epoch int64  `json:"epoch,omitempty"`
}

// What clients were told, or wished.
const (
	toldAdmin    = "admin key"        // Key is its plaintext
	toldUpload   = "upload completed" // Sum
	toldJob      = "job submitted"
	toldPaired   = "paired" // Key is the token
	wishRevoke   = "revoke"
	toldRevoked  = "revoked"
	wishCancel   = "cancel"
	toldCancel   = "cancel taken"
	toldPart     = "part held"       // ID is the job's, Key the object's, Sum
	toldAccepted = "commit accepted" // Sum
	toldOK       = "commit ok"       // Sum
	wishFail     = "fail"
	toldFailed   = "failed"
	wishStart    = "server starting"

	// The agent's story, as its server sees it.
	sawUpload = "upload seen" // ID is the attempt's; Sum, Epoch, and Key the token
	sentFinal = "final answer"
)

// facts are all of a recording up to a position, by what they say and of what.
type facts map[string]map[string]fact

func (r *recording) facts(until int) facts {
	f := facts{}
	for _, o := range r.ops[:until] {
		if o.Kind != opMark {
			continue
		}
		var one fact
		if err := json.Unmarshal(o.Data, &one); err != nil {
			panic(err)
		}
		if one.What == wishStart {
			delete(f, toldPart) // what ran before ends when its Mac comes back without it
		}
		if f[one.What] == nil {
			f[one.What] = map[string]fact{}
		}
		key := one.ID
		if one.What == toldPart {
			key = fmt.Sprint(one.Key, " ", one.Part)
		}
		f[one.What][key] = one
	}
	return f
}

// told says whether something was said of an id.
func (f facts) told(id string, what ...string) bool {
	return slices.ContainsFunc(what, func(w string) bool { _, ok := f[w][id]; return ok })
}

func (p *plug) tell(f fact) {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	p.mark(text)
}
