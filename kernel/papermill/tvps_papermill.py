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
    r"\s*([^\W\d]\w*)\s*([\w.]*)\s*=\s*"
    r'("(?:\\.|[^"\\])*"|`[^`]*`|(?:(?!//)\S)+)'
    r"\s*(?://\s*(.*?)\s*)?$"
)
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
    if re.fullmatch(r"[+-]?(0[xXbBoO])?[\da-fA-F_]+", literal):
        return "int"
    return "float64" if re.fullmatch(r"[+-]?[\d_]*\.?[\d_]*([eE][+-]?\d+)?", literal) else ""


def _string(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PapermillException(f"{value!r} is not text: Go strings are UTF-8") from None
    return json.dumps(value, ensure_ascii=False).replace("\ufeff", "\\ufeff")


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
        if type_ == "string" and isinstance(value, (bool, int, float)):
            value = str(value)  # papermill took -p name True for a truth value
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


papermill_translators.register("go", GoTranslator)


# Papermill's own engine, under the name tvps: see pyproject.toml. Papermill has defined it when it loads this module.
from papermill.engines import NBClientEngine as engine  # noqa: E402, F401
