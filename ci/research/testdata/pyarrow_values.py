"""Prints the values of Parquet files as PyArrow reads them: for each file of the command line a line of JSON."""

import datetime
import json
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 20_000  # that are printed


def texts(kind, values):
    return kind, [None if v is None else v if isinstance(v, str) else repr(v) for v in values]


def column(array):
    """The kind of a column and its values as texts, None for nulls."""
    t = array.type
    if isinstance(t, pa.BaseExtensionType):
        array = pa.chunked_array([c.storage for c in array.chunks], t.storage_type)
        if t.extension_name == "arrow.uuid":
            return texts("text", [v and str(uuid.UUID(bytes=v)) for v in array.to_pylist()])
        t = array.type
    if pa.types.is_dictionary(t):
        array = pa.chunked_array([c.dictionary_decode() for c in array.chunks], t.value_type)
        t = array.type
    if pa.types.is_boolean(t):
        return texts("boolean", [v if v is None else str(v).lower() for v in array.to_pylist()])
    if pa.types.is_integer(t) or pa.types.is_floating(t):
        return texts("number", [v if v is None else repr(v) for v in array.to_pylist()])
    if pa.types.is_decimal(t):
        return texts("number", [v if v is None else str(v) for v in array.to_pylist()])
    if pa.types.is_duration(t):
        return texts("number", [v if v is None else repr(v) for v in array.cast(pa.int64()).to_pylist()])
    if pa.types.is_date32(t):
        return texts("time", [v if v is None else repr(v * 86_400_000_000) for v in array.cast(pa.int32()).to_pylist()])
    if pa.types.is_date64(t) or pa.types.is_timestamp(t):
        unit = "ms" if pa.types.is_date64(t) else t.unit
        def micros(v):
            return v // 1000 if unit == "ns" else v * {"s": 1_000_000, "ms": 1000, "us": 1}[unit]
        return texts("time", [v if v is None else repr(micros(v)) for v in array.cast(pa.int64()).to_pylist()])
    if pa.types.is_time(t):
        per = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}[t.unit]
        integers = array.cast(pa.int32() if pa.types.is_time32(t) else pa.int64()).to_pylist()
        def clock(v):
            v = v // 1000 if t.unit == "ns" else v * per
            text = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=v)).strftime("%H:%M:%S.%f")
            return text.rstrip("0").rstrip(".")
        return texts("text", [v if v is None else clock(v) for v in integers])
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t):
        array = array.cast(pa.large_binary())
        t = array.type
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        values = array.to_pylist()
        try:
            if not any(b"\0" in v for v in values if v is not None):
                return texts("text", [v if v is None else v.decode() for v in values])
        except UnicodeDecodeError:
            pass
    return "nested" if pa.types.is_nested(t) else "other", None


for path in sys.argv[1:]:
    out = {"file": path}
    try:
        table = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read(use_threads=False)
        out["rows"] = table.num_rows
        out["columns"] = []
        for name, array in zip(table.column_names, table.slice(0, ROWS).columns):
            kind, values = column(array)
            out["columns"].append({"name": name, "kind": kind, "values": values})
    except Exception as error:
        out = {"file": path, "error": str(error)[:200]}
    print(json.dumps(out), flush=True)
