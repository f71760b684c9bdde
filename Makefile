# What people look for first. `.ci/run` has all checks, `go run ./replicate --help` all commands.
.PHONY: build test fig1 ci

build:
	go build -o bin/ ./replicate ./kernel

test:
	go test ./...

fig1:
	go run ./replicate fig1

ci:
	.ci/run
