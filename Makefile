# The two commands to know: make demo, and make test.
.PHONY: demo proxy-demo walkthrough test check build cross lint arch unit alone race faults drill scripts peers bench fuzz soak clean help

GO      ?= go
BIN     := .bin
LINT    := $(BIN)/golangci-lint
RAILS   := $(BIN)/rails
FUZZFOR ?= 5s
SOAKFOR ?= 1h
export CGO_ENABLED ?= 0

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: build ## one order passes and one is refused, offline, in seconds
	@$(RAILS) demo

proxy-demo: build ## Alpaca's own MCP server behind rails proxy, on a fake broker; no account, no keys
	@bin=$$(./test/peers/alpaca) && RAILS=$(abspath $(RAILS)) PYTHONDONTWRITEBYTECODE=1 $$bin/python demos/proxy_demo.py

walkthrough: build ## the whole safety argument, act by act, in under a minute
	@RAILS=$(RAILS) ./demos/rails_walkthrough.sh

build: ## the rails binary and the auditor's rails-verify, in .bin
	@$(GO) build -trimpath -o $(RAILS) ./cmd/rails
	@CGO_ENABLED=0 $(GO) build -trimpath -o $(dir $(RAILS))rails-verify ./verify/cmd/rails-verify

test: check alone race faults drill scripts fuzz model peers ## everything; installs what it needs
	@echo "all tests passed"

check: fmt vet lint cross arch generated ## what can be said without running the product

.PHONY: fmt vet generated
fmt:
	@test -z "$$(gofmt -l cmd internal test verify)" || { echo "not formatted:"; gofmt -l cmd internal test verify; exit 1; }

vet:
	@$(GO) vet ./...

$(LINT): tools/go.mod tools/go.sum
	@echo "building golangci-lint (once; takes some minutes)"
	@cd tools && $(GO) build -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

lint: $(LINT)
	@$(LINT) run ./...

cross: ## builds for linux, darwin and windows without cgo
	@for os in linux darwin windows; do GOOS=$$os GOARCH=amd64 $(GO) vet ./cmd/... ./verify/... && GOOS=$$os GOARCH=amd64 $(GO) build -o /dev/null ./cmd/rails || exit 1; done
	@GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/rails

arch: ## imports, determinism, sizes and documents keep to the architecture
	@$(GO) test ./internal/archtest/

generated: ## generated files are fresh
	@$(GO) run ./internal/archtest/gen -check

unit: ## all unit tests, without the race detector
	@$(GO) test -shuffle=on ./...

# Packages that start nothing at the same time: the core may not (archtest), and the others
# leave it to the gate, whose own tests run under the detector. It could find nothing in them
# and would cost five times as much.
ALONE := account journal limits market money order rail record risk strict audit bound lint normalize profile replay report sim tamper
# Packages with tests that build the product again, kill it or fill a disk: in full without
# the detector, and shortened under it.
LONG := adversary cli witness

alone: ## unit tests of what does one thing at a time, and long ones, shuffled
	@$(GO) test -shuffle=on -timeout 15m $(ALONE:%=./internal/%) $(LONG:%=./internal/%)

race: ## unit tests of what does several, with the race detector, shuffled
	@CGO_ENABLED=1 $(GO) test -race -short -shuffle=on -timeout 15m $$($(GO) list ./... | grep -v $(ALONE:%=-e '/internal/%$$') -e /internal/faults -e /internal/drill -e /internal/archtest)

faults: ## processes killed, halted, starved and raced; each defence taken away
	@$(GO) test -timeout 15m ./internal/faults/

drill: ## 10,000 seeded histories of faults, crashes and lost messages, and that they find what they should
	@$(GO) test -timeout 20m -count=1 ./internal/drill/

scripts: build ## the shipped scenarios, through the binary
	@$(RAILS) test examples
	@$(RAILS) test testdata/cases

peers: build ## parts that are not ours: MCP Inspector, conformance suite, Python client, two witnesses
	@./test/peers/run
	@cd test/peers/witness && $(GO) test ./...

.PHONY: mutate
mutate: ## every small change of the engine is seen by a test, or explained
	@nice $(GO) run ./test/mutate

.PHONY: model
model: ## every state of two gates, crashes and a halt, by Spin; and that it can fail
	@nice ./test/model/check.sh

bench: ## benchmarks with ratios inside one run; figures go to docs/performance.md
	@$(GO) test -run '^$$' -bench . -benchmem ./internal/...

fuzz: ## a short fuzz of every target
	@FUZZFOR=$(FUZZFOR) ./test/fuzz

soak: ## longer: more kills, more histories, more made-up attacks, longer fuzz
	@RAILS_SOAK=1 $(GO) test -timeout 60m -count=1 ./internal/faults/...
	@RAILS_SOAK=1 $(GO) test -timeout 90m -count=1 ./internal/adversary/
	@RAILS_SOAK=1 $(GO) test -timeout 0 -count=1 ./internal/drill/ -run TestSoak -v -for $(SOAKFOR)
	@nice $(GO) run ./test/mutate
	@FUZZFOR=60s ./test/fuzz

clean:
	@rm -rf $(BIN) .peers dist
