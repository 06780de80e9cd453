# RenderMac. `make help` lists what there is.
GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOFUMPT   = $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
export CGO_ENABLED = 0

.PHONY: help ffmpeg deps build demo test storybook screenshots test-remotion race check bench ready qualify media-report soak fuzz clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

ffmpeg: ## install ffmpeg and curl if they are missing (apt-get as root on Debian, Homebrew on macOS)
	@scripts/deps.sh

deps: ## the same, and what tests need: Chromium, jq, axe-core and an S3 server (the last two once, into a cache folder)
	@scripts/deps.sh tests
	@scripts/axe.sh
	@scripts/s3.sh

build: ## bin/rendermac
	$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/rendermac ./cmd/rendermac

demo: export DEMO_FILE := $(value FILE)
demo: ffmpeg build ## one real transcode, leased, verified and published; FILE=/path/clip.mov takes your own
	@bin/rendermac demo $${DEMO_FILE:+-- "$$DEMO_FILE"}

test: deps ## the whole suite
	$(GO) test -timeout 15m ./...

storybook: ## every page in every state, on http://127.0.0.1:7421, from canned data
	$(GO) run ./web/storybook

DIR ?= build/screenshots
screenshots: deps ## a picture of every page in every state, light and dark, for desk and phone: DIR=build/screenshots
	SCREENSHOTS="$(abspath $(DIR))" $(GO) test -count=1 -run '^TestStories$$' ./web/storybook
	@echo "The pictures are in $(DIR)."

test-remotion: ffmpeg ## a real composition through your own Remotion: REMOTION=/path/to/node_modules, REMOTION_BROWSER=/path/to/chrome
	@[ -n "$(REMOTION)" ] || { echo "REMOTION must name the node_modules that holds @remotion/cli, remotion, react and react-dom" >&2; exit 2; }
	REMOTION="$(abspath $(REMOTION))" $(GO) test -count=1 -timeout 30m -v -run '^TestRealRemotion$$' ./cmd/rendermac

race: deps ## the whole suite under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

check: ## formatting, vet, staticcheck, and the build for Apple Silicon
	@out=$$($(GOFUMPT) -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) vet -tags failpoints ./failpoint ./cmd/rendermac
	$(STATICCHECK) -tags failpoints ./failpoint ./cmd/rendermac
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/rendermac

bench: deps ready ## the store's cycle as ratios, submit to offer, bytes against a bare loop on both stores
	$(GO) test -run '^$$' -bench . -benchtime 3x ./store
	$(GO) test -run '^$$' -bench . ./server ./artifact ./fetch
	$(GO) test -run '^$$' -bench Haul -benchtime 3x -timeout 30m ./qualify

ready: build ## idle memory and time to ready, on an empty and on a large database
	@scripts/ready.sh

qualify: deps ## the qualification card, measured anew: docs/evidence/qualification.md
	QUALIFY_CARD=$(CURDIR)/docs/evidence/qualification.md $(GO) test -count=1 -timeout 15m -run '^TestQualification$$' ./qualify

media-report: deps ## every kind of file through every service: docs/evidence/media.md
	MEDIA_REPORT=$(CURDIR)/docs/evidence/media.md VERSION=$(VERSION) $(GO) test -count=1 -timeout 30m -run '^TestMediaReport$$' ./media

soak: export RENDERMAC_SOAK = 1
soak: deps ## hours: 100,000 histories, ten minutes of swarm, longer orders, every kill, 1,000 power cuts, 12 GiB on both stores (40 GB free), kills at any byte
	$(GO) test -count=1 -timeout 6h -v -run 'Model|Histor' ./fence ./store
	$(GO) test -count=1 -timeout 2h -v -run 'Swarm|EveryOrder' ./server
	$(GO) test -count=1 -timeout 6h -v -run 'Crash|Power|Haul' ./qualify
	$(GO) test -count=1 -timeout 2h -run 'Cut|Together' ./media

fuzz: ## every fuzz target for half a minute
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
		$(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime 30s $$pkg || exit 1; done; done

clean: ## what was built
	rm -rf bin build
