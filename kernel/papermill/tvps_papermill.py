"""Parameters of Go notebooks for papermill: `papermill in.ipynb out.ipynb -p scale tiny`.

Papermill adds a cell after the one with the tag parameters. In Go that cell must declare each parameter with the type
that the notebook gives it: papermill takes 3 for a number, also where the notebook declares a string.
"""

import json
import math
import re

from papermill.exceptions import PapermillException
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

_START = re.compile(r"\s*(var|const)\b\s*(\()?")
_DECLARATION = re.compile(
    r"\s*([^\W\d]\w*)\s*((?:\[\]|map\[string\])?[\w.]*)\s*=\s*"
    r'("(?:\\.|[^"\\])*"|`[^`]*`|(?:\[\]|map\[string\])\w+\{[^{}]*\}|(?:(?!//)\S)+(?:\s*\*\s*[\w.]+)?)'
    r"\s*(?://\s*(.*?)\s*)?$"
)
_UNITS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_KEYWORDS = set(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var".split()
)


def _declarations(source):
    """The parameters in a cell: pairs of var or const and a papermill Parameter."""
    found, block = [], None
    for line in source.splitlines():
        if line.startswith(("%%", "//gonb:%%")):
            break
        start = _START.match(line) if block is None else None
        if start and start[2]:
            block = start[1]
            line = line[start.end() :]
        elif block and line.strip().startswith(")"):
            block = None
            continue
        kind = block or (start and start[1])
        declaration = kind and _DECLARATION.match(line if block else line[start.end() :])
        if declaration:
            name, type_, value, doc = declaration.groups()
            found.append((kind, Parameter(name, type_ or _type(value), value, doc or "")))
    return found


def _type(literal):
    """The type of a literal of Go; an empty string if it is none."""
    if literal[0] in '"`':
        return "string"
    if literal in ("true", "false"):
        return "bool"
    if literal.endswith("}"):
        return literal.split("{")[0]
    if "time." in literal:
        return "time.Duration"
    if re.fullmatch(r"[+-]?(0[xXbBoO])?[\da-fA-F_]+", literal):
        return "int"
    return "float64" if re.fullmatch(r"[+-]?[\d_]*\.?[\d_]*([eE][+-]?\d+)?", literal) else ""


def _string(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PapermillException(f"{value!r} is not text: Go strings are UTF-8") from None
    return json.dumps(value, ensure_ascii=False).replace("\ufeff", "\\ufeff")


def _duration(value):
    """Nanoseconds of a text such as 1h30m or 1.5s."""
    pieces = re.findall(r"(\d+\.?\d*|\.\d+)(h|ms|m|us|µs|ns|s)", value.lstrip("+-"))
    if "".join(number + unit for number, unit in pieces) != value.lstrip("+-") or not pieces:
        raise PapermillException(f'{value!r} is not a duration such as "90s" or "1h30m"')
    total = round(sum(float(number) * _UNITS[unit] for number, unit in pieces))
    return -total if value.startswith("-") else total


class GoTranslator(Translator):
    """Writes parameters as Go declarations."""

    _declared = {}  # by name, of the cell that inspect read last; codify, which papermill calls next, uses it up

    @classmethod
    def inspect(cls, parameters_cell):
        found = _declarations(parameters_cell["source"])
        cls._declared = {p.name: (kind, p.inferred_type_name) for kind, p in found}
        return [p for _, p in found]

    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        declared, cls._declared = cls._declared, {}
        lines = [f"// {comment}"]
        for name, value in parameters.items():
            if not re.fullmatch(r"[^\W\d]\w*", name) or name in _KEYWORDS:
                raise PapermillException(f"{name!r} cannot be a parameter of a Go notebook: it is not a name in Go")
            kind, type_ = declared.get(name, ("var", ""))
            lines.append(" ".join(filter(None, [kind, name, type_, "=", cls.literal(name, type_, value)])))
        return "\n".join(lines) + "\n"

    @classmethod
    def literal(cls, name, type_, value):
        """A value as a literal of Go for a parameter of that type; an empty type is that of the value."""
        if isinstance(value, (list, dict)):
            return cls.composite(name, type_, value)
        if type_ == "string" and isinstance(value, (bool, int, float)):
            value = str(value)  # papermill took -p name True for a truth value
        if type_ == "time.Duration" and isinstance(value, str):
            return f"time.Duration({_duration(value)})"
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fits = {
            "string": isinstance(value, str),
            "bool": isinstance(value, bool),
            "": isinstance(value, (str, bool)) or number,
        }.get(type_, number and (type_.startswith("float") or value == int(value) if math.isfinite(value) else False))
        if not fits or number and not math.isfinite(value):
            raise PapermillException(f"the parameter {name} is {type_ or 'of an unknown type'}: it cannot be {value!r}")
        if isinstance(value, str):
            return _string(value)
        return cls.translate(value)

    @classmethod
    def composite(cls, name, type_, value):
        """A list or dict as a literal of Go. Without a declared type its items must have one type."""
        prefix, items = ("[]", value) if isinstance(value, list) else ("map[string]", list(value.values()))
        if not type_:
            kinds = {bool: "bool", int: "int", float: "float64", str: "string"}
            found = {kinds.get(type(v)) for v in items}
            if found == {"int", "float64"}:
                found = {"float64"}
            type_ = prefix + (found.pop() if len(found) == 1 and None not in found else "any")
        if not type_.startswith(prefix) or type_.endswith("any") or any(isinstance(v, (list, dict)) for v in items):
            raise PapermillException(f"the parameter {name} is {type_}: it cannot be {value!r}")
        written = [cls.literal(name, type_[len(prefix) :], v) for v in items]
        if prefix != "[]":
            written = [f"{_string(str(key))}: {item}" for key, item in zip(value, written)]
        return f"{type_}{{{', '.join(written)}}}"


papermill_translators.register("go", GoTranslator)


# Papermill's own engine, under the name tvps: see pyproject.toml. Papermill has defined it when it loads this module.
from papermill.engines import NBClientEngine as engine  # noqa: E402, F401
