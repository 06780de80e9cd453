package store

import (
	"database/sql"
	"encoding/json"

	"rendermac/fence"
)

// ref is what an event is about.
type ref struct{ account, job, attempt, device string }

func (r run) ref() ref { return ref{r.accountID, r.job.ID, r.attempt.ID, r.attempt.DeviceID} }

// event appends to the history; data is a JSON object.
func (t *tx) event(kind string, r ref, data string) error {
	t.appended = true
	return t.exec(`INSERT INTO events (at, type, account_id, job_id, attempt_id, device_id, data) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		ms(t.now), kind, orNull(r.account), orNull(r.job), orNull(r.attempt), orNull(r.device), data)
}

func failureData(code, message string) string {
	if code == "" {
		return "{}"
	}
	return asJSON(map[string]string{"failure_code": code, "failure_message": message})
}

// webhook is what a job says of who wants to be told.
type webhook struct {
	url                        sql.NullString
	events, outputName, labels string
}

const webhookColumns = `webhook_url, webhook_events, output_name, labels`

func (w *webhook) columns() []any { return []any{&w.url, &w.events, &w.outputName, &w.labels} }

// enqueueWebhook writes the outbox row in the transaction that makes it true.
// The body follows Standard Webhooks; who delivers it signs it.
func (t *tx) enqueueWebhook(w webhook, r run, happened, code string) error {
	kind := "job." + happened
	if !w.url.Valid || !wants(w.events, kind) {
		return nil
	}
	status := happened
	if happened == "started" {
		status = string(fence.JobActive)
	}
	id, err := t.id("whd")
	if err != nil {
		return err
	}
	body := asJSON(map[string]any{
		"type": kind, "timestamp": t.now,
		"data": map[string]any{
			"job_id": r.job.ID, "account_id": r.accountID, "status": status,
			"failure_code": orNull(code), "labels": json.RawMessage(w.labels), "output_name": w.outputName,
		},
	})
	t.outbox = true
	err = t.exec(`INSERT INTO webhook_deliveries (id, account_id, job_id, url, type, body, state, next_try_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
		id, r.accountID, r.job.ID, w.url.String, kind, body, ms(t.now), ms(t.now))
	if err != nil {
		return err
	}
	return t.moveLane(id)
}

func wants(events, kind string) bool {
	var list []string
	if json.Unmarshal([]byte(events), &list) != nil {
		return false
	}
	for _, e := range list {
		if e == kind {
			return true
		}
	}
	return false
}
