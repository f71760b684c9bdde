"""Builds the program tvps into the wheel, in a checkout and with Go."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LICENCES = "LICENSE", "THIRD_PARTY.md", "figures/echarts/LICENSE", "figures/echarts/NOTICE"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}  # Go's name: Linux's

# The module of a package, the module's folder and that of the package; nothing for packages of this module and of Go.
PACKAGES = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"
TEXTS = re.compile(r"(licen[cs]es?|copying|copyright|notice|patents|authors|contributors)\b", re.IGNORECASE)


class Program(BuildHookInterface):
    def initialize(self, version, build_data):
        """Build for the wheel. An editable installation gets no program."""
        if sys.platform == "win32":
            raise SystemExit("the Python package tvps needs Linux or macOS: use WSL, or the program tvps without it")
        if version == "editable":
            return
        go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
        if not go:
            raise SystemExit(
                "building tvps needs Go, which is not on PATH: install it from https://go.dev/dl/, or give pip a wheel that "
                "`make wheel` made on another machine"
            )
        module = Path(self.root).parents[2]
        if not (module / "go.mod").is_file():
            raise SystemExit(f"{self.root} is not in a checkout of tvps, with go.mod: build it there")

        def run(*arguments):
            command, environment = [go, *arguments], {**os.environ, "GOWORK": "off"}
            done = subprocess.run(command, cwd=module, env=environment, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                raise SystemExit(f"`go {' '.join(map(str, arguments))}` in {module} failed")
            return done.stdout

        go_env = json.loads(run("env", "-json", "GOOS", "GOARCH", "GOROOT", "CGO_ENABLED"))
        tags = []
        if go_env["CGO_ENABLED"] == "0":
            tags = ["-tags=noxla"]  # no C compiler
        self.work = tempfile.TemporaryDirectory()
        program = Path(self.work.name, "tvps")
        run("build", "-trimpath", "-ldflags=-s -w", *tags, "-o", program, "./replicate")
        build_data["force_include"][str(program)] = "tvps/tvps"
        build_data["force_include"].update({str(module / name): f"tvps/{name}" for name in LICENCES})
        packages = run("list", "-deps", *tags, "-f", PACKAGES, "./replicate").splitlines()
        packages = [line.split("\t") for line in packages if line]
        texts = licences([*packages, ["go", go_env["GOROOT"], go_env["GOROOT"]]])
        build_data["force_include"].update({str(text): f"tvps/licences/{name}" for text, name in texts.items()})
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{wheel_platform(go_env, program)}"

    def finalize(self, version, build_data, artifact_path):
        if hasattr(self, "work"):
            self.work.cleanup()


def licences(packages):
    """Return the licence texts in the folders of Go packages, up to those of their modules, and names for them."""
    found = {}
    for module, root, folder in packages:
        folders = [Path(folder), *Path(folder).parents]
        for folder in folders[: folders.index(Path(root)) + 1]:
            for entry in filter(lambda entry: TEXTS.match(entry.name), folder.iterdir()):
                texts = entry.iterdir() if entry.is_dir() else [entry]
                found.update({text: f"{module}/{text.relative_to(root)}" for text in texts if text.suffix != ".go"})
        if not any(name.startswith(f"{module}/") for name in found.values()):
            raise SystemExit(f"the Go module {module} in {root} has no licence")
    return found


def wheel_platform(go_env, program):
    """Return the platform of a program in the words of wheels: on Linux the oldest glibc that has all it links, from
    2.17 on, as old as Python's own wheels."""
    if go_env["GOOS"] != "linux":
        return re.sub(r"\W", "_", sysconfig.get_platform())
    versions = re.findall(rb"\0GLIBC_2\.(\d+)", program.read_bytes())
    return f"manylinux_2_{max([17, *map(int, versions)])}_{MACHINES[go_env['GOARCH']]}"
