package agent

import (
	"context"
	"encoding/json"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/media"
)

// encode runs a plan pass by pass, and answers the last one with the warnings of
// the whole run. The first says how much room all of them need.
func (r *run) encode(ctx context.Context, plan media.Plan, params agentproto.RawJSON) (media.Plan, error) {
	if err := r.room(plan.ExpectBytes, "the output"); err != nil {
		return plan, err
	}
	worst := &complaints{}
	for done := 0.0; len(plan.Args) > 0; {
		said, err := r.pass(ctx, plan, done)
		if err != nil {
			return plan, err
		}
		if said.damage > 0 && !acceptsDamage(params) {
			return plan, failed(fence.RunnerFailed, "the input is damaged: %s", said.summary()+media.OrAccept)
		}
		if said.damage > worst.damage {
			worst = said // the passes read the same input: their counts are not added
		}
		if plan.Next == nil {
			break
		}
		done = plan.Upto
		if plan, err = plan.Next(said.tail); err != nil {
			return plan, failed(fence.RunnerFailed, "%s", err)
		}
	}
	if worst.damage > 0 {
		plan.Warnings = append(plan.Warnings, "damaged input accepted: "+worst.summary())
	}
	return plan, nil
}

func acceptsDamage(params agentproto.RawJSON) bool {
	var p struct {
		DamagedInput string `json:"damaged_input"`
	}
	return json.Unmarshal(params, &p) == nil && p.DamagedInput == "accept"
}
