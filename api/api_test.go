package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// The keys of every answer as the API's page lists them.
var answers = map[string]any{
	"id account_id status service params inputs priority max_attempts admission_deadline requires webhook_url webhook_events output_name labels " +
		"retry_of waiting_on reading failure_code failure_message created_at started_at finished_at hold artifact input_media attempts": Job{},
	"id attempt_number status device_id device_name lease_epoch phase fraction fps speed eta_s leased_at ended_at failure_code failure_message": Attempt{},
	"credits state": Hold{},
	"read_by container brands duration_s faststart streams oddity":                                                                                 Media{},
	"kind codec tag profile width height rotation bit_depth chroma fps frames duration_s start_s sample_rate channels color attached_pic language": MediaStream{},
	"primaries transfer matrix":                                MediaColor{},
	"name bytes sha256 content_type media warnings deleted_at": Artifact{},
	"upload_id job_id path":                                    Input{},
	"id part_bytes parts next_part expires_at":                 UploadCreated{},
	"number url headers":                                       PartURL{},
	"id bytes part_bytes held parts next_part expires_at":      Upload{},
	"id name bytes sha256 media":                               UploadDone{},
	"name title params presets devices_online":                 Service{},
	"code device_id expires_at command":                        Pairing{},
	"device_id device_token":                                   PairAnswer{},
	"id name state slots busy services device tags last_seen_at running succeeded failed": Device{},
	"platform arch model os_version cpus memory_bytes free_disk_bytes encoders features":  Machine{},
	"type title status detail code errors":                                                Error{},
	"items next_cursor":                                                                   List[JobItem]{},
	"name bytes sha256 parts":                                                             UploadRequest{},
	"sha256":                                                                              UploadComplete{},
	"code name device":                                                                    PairRequest{},
	"service params inputs priority max_attempts admission_deadline requires webhook_url webhook_events output_name labels": JobRequest{},
}

func TestAbsentValuesAreNullNeverLeftOut(t *testing.T) {
	for want, zero := range answers {
		text, err := json.Marshal(zero)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		keys := strings.Fields(want)
		for _, key := range keys {
			if _, ok := got[key]; !ok {
				t.Errorf("%T leaves out %q", zero, key)
			}
		}
		for key := range got {
			if !slices.Contains(keys, key) {
				t.Errorf("%T has %q, which the API does not list", zero, key)
			}
		}
	}
}

// huma builds the schemas from the tags and panics on one that it cannot use.
func TestEveryTypeHasASchema(t *testing.T) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for keys, zero := range answers {
		schema := registry.SchemaFromRef(registry.Schema(reflect.TypeOf(zero), true, "").Ref)
		if got, want := len(schema.Properties), len(strings.Fields(keys)); got != want {
			t.Errorf("the schema of %T has %d properties, want %d", zero, got, want)
		}
	}
}

func TestJobRequestIsValidatedByItsTags(t *testing.T) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[JobRequest](), true, "")
	cases := []struct {
		name, body string
		faults     int
	}{
		{"required only", `{"service":"ffmpeg.transcode","inputs":[{"upload_id":"upl_1"}]}`, 0},
		{"every optional value null", `{"service":"s","inputs":[{"upload_id":"u","job_id":null,"path":null}],"params":null,"priority":null,"max_attempts":null,"admission_deadline":null,"requires":null,"webhook_url":null,"webhook_events":null,"output_name":null,"labels":null}`, 0},
		{"everything", `{"service":"s","params":{"preset":"p"},"inputs":[{"job_id":"job_1"}],"priority":-100,"max_attempts":10,"admission_deadline":"2026-12-02T08:00:00Z","requires":{"tags":["a"],"min_memory_gb":16},"webhook_url":"https://example.test/hook","webhook_events":["job.succeeded"],"output_name":"a.mp4","labels":{"client":"acme"}}`, 0},
		{"no inputs", `{"service":"s","inputs":[]}`, 1},
		{"every fault at once", `{"service":"","inputs":null,"priority":101,"max_attempts":0,"webhook_url":"ftp://x","webhook_events":["job.lost"],"colour":"red"}`, 7},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var body any
			if err := json.Unmarshal([]byte(c.body), &body); err != nil {
				t.Fatal(err)
			}
			var result huma.ValidateResult
			huma.Validate(registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, body, &result)
			if len(result.Errors) != c.faults {
				t.Errorf("got %d faults %v, want %d", len(result.Errors), result.Errors, c.faults)
			}
		})
	}
}

func TestErrorReadsAsOneSentence(t *testing.T) {
	err := NewError(422, CodeInvalid, "The job was not taken.",
		Fault{"params.width", "must be even"}, Fault{"", "is too much"})
	if got, want := err.Error(), "The job was not taken: params.width must be even; is too much"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
