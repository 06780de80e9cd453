package server

import "encoding/json"

// exampleIDs are those of the document's examples, by what they name.
var exampleIDs = map[string]string{
	"jobs":       "job_01kbd3m8q5w9x2c7e4r6t8y0za",
	"uploads":    "upl_01kbd3m8q5w9x2c7e4r6t8y0za",
	"devices":    "dev_01kbd3m8q5w9x2c7e4r6t8y0za",
	"accounts":   "acc_01kbd3m8q5w9x2c7e4r6t8y0za",
	"keys":       "key_01kbd3m8q5w9x2c7e4r6t8y0za",
	"deliveries": "whd_01kbd3m8q5w9x2c7e4r6t8y0za",
}

// exampleBodies are request bodies by operation.
var exampleBodies = map[string]json.RawMessage{
	"createUpload": json.RawMessage(`{"name":"interview.mov","bytes":1048576}`),
	// The digest is that of the four bytes "clip", here and below.
	"signParts":      json.RawMessage(`{"parts":[{"number":1,"bytes":4,"sha256":"67905ad3cc2dd52b1f5f6a6d2814de0396618b29b4238b9af5207aeb69936e6d"}]}`),
	"completeUpload": json.RawMessage(`{"sha256":"67905ad3cc2dd52b1f5f6a6d2814de0396618b29b4238b9af5207aeb69936e6d"}`),
	"createJob": json.RawMessage(`{"service":"ffmpeg.transcode","params":{"preset":"web-1080p"},"inputs":[{"upload_id":"upl_01kbd3m8q5w9x2c7e4r6t8y0za"}],` +
		`"priority":10,"max_attempts":3,"admission_deadline":"2036-12-02T08:00:00Z","requires":{"tags":["studio-b"],"min_memory_gb":16},` +
		`"webhook_url":"https://example.test/hook","webhook_events":["job.succeeded","job.failed"],"output_name":"interview-web.mp4","labels":{"client":"acme"}}`),
	"createBatch": json.RawMessage(`{"jobs":[{"service":"ffmpeg.concat","inputs":[{"upload_id":"upl_01kbd3m8q5w9x2c7e4r6t8y0za"},{"upload_id":"upl_01kbd3m8q5w9x2c7e4r6t8y0za"}]},` +
		`{"service":"ffmpeg.frames","params":{"fps":24},"inputs":[{"upload_id":"upl_01kbd3m8q5w9x2c7e4r6t8y0za"}]},` +
		`{"service":"ffmpeg.transcode","params":{"preset":"web-720p"},"inputs":[{"upload_id":"upl_01kbd3m8q5w9x2c7e4r6t8y0za"}]}]}`),
	"changeJob":     json.RawMessage(`{"priority":50}`),
	"changeDevice":  json.RawMessage(`{"name":"studio-2","draining":true,"slots":2,"tags":["hdr","studio-b"]}`),
	"createPairing": json.RawMessage(`{"name":"studio-2"}`),
	"pair": json.RawMessage(`{"code":"K7QD-2MXP","name":"mini.local","device":{"platform":"darwin","arch":"arm64","model":"Mac mini (M4)",` +
		`"os_version":"26.1","cpus":10,"memory_bytes":17179869184,"free_disk_bytes":200000000000,"encoders":["libx264"],"features":["drawtext"]}}`),
	"signIn":         json.RawMessage(`{"token":"rml_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`),
	"createAccount":  json.RawMessage(`{"name":"acme","credit_limit":1000}`),
	"collectGarbage": json.RawMessage(`{"dry_run":true}`),
	"changeAccount":  json.RawMessage(`{"credit_limit":null}`),
	"createKey":      json.RawMessage(`{"name":"render script","account_id":"acc_01kbd3m8q5w9x2c7e4r6t8y0za","scope":"submit"}`),
}
