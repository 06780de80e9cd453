package agent

import (
	"context"
	"errors"

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
		if plan.Software != nil && encoderRefused(err, said) {
			r.log.Info("the hardware encoder refused the file", "error", err)
			plan = *plan.Software
			continue
		}
		if err != nil {
			return plan, withAdvice(err, plan, said)
		}
		if said.damage > 0 && !media.AcceptsDamage(params) {
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

// encoderRefused tells an encoder's own failure from damage, and from what would befall
// another encoder as well.
func encoderRefused(err error, said *complaints) bool {
	var f *failure
	return errors.As(err, &f) && f.code == fence.RunnerFailed && said.damage == 0
}

// withAdvice says what to do where only the hardware encoder was to be used.
func withAdvice(err error, plan media.Plan, said *complaints) error {
	if !plan.InHardware() || !encoderRefused(err, said) {
		return err
	}
	return failed(fence.RunnerFailed, "the hardware encoder refused this file: %s; submit with encoder=auto, and software encodes it", said.lastLine())
}
