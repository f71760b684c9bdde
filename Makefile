# What people look for first. `.ci/run` has all checks, `go run ./replicate --help` all commands.
.PHONY: build test fig1 ci wheel

build:
	go build -o bin/ ./replicate ./kernel

test:
	go test ./...

fig1:
	go run ./replicate fig1

ci:
	.ci/run

# Wheels of the Python package for Linux on x86-64 and aarch64, in its folder dist. The C compiler is zig's, from a
# package index, as it links for an older glibc (2.28: RHEL 8, Debian 10) than that of this machine.
python := gomlx_models/propensity/python
wheel:
	python3 -m venv bin/.wheel
	bin/.wheel/bin/pip install -q -c $(python)/constraints.txt build ziglang
	for target in amd64:x86_64 arm64:aarch64; do \
	  GOOS=linux GOARCH=$${target%:*} CGO_ENABLED=1 \
	  CC="$$PWD/bin/.wheel/bin/python -m ziglang cc -target $${target#*:}-linux-gnu.2.28" \
	  bin/.wheel/bin/python -m build --wheel $(python) || exit 1; \
	done
